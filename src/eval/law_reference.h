// How alike the texts of a run are among themselves, and how far their law is from that of an earlier run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "eval/task.h"
#include "eval/text_kernel.h"

namespace punt {

/// The texts of an earlier run: items.jsonl of its folder. Throws Error naming the file, and with fewer than two texts.
std::vector<PromptedText> ReadLawReference(const std::string& folder);

/// Adds self_overlap where there are two texts, and law_distance and law_p where the reference has two as well.
void AddVariety(std::span<const PromptedText> texts, std::span<const PromptedText> reference,
                std::vector<Figure>& figures);

}  // namespace punt
