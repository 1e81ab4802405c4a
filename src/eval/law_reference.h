// How alike the texts of a run are, and how far their law is from that of an earlier run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "eval/judges/text_kernel.h"
#include "eval/task.h"
#include "report/record_folder.h"

namespace punt {

/// The texts of an earlier run: items.jsonl of its folder. Throws Error naming the file, and with fewer than two texts.
std::vector<PromptedText> ReadLawReference(const std::string& folder);

/// Throws Error naming what differs if the law of a run `here` cannot be compared with that in `folder`: another task,
/// model or way of drawing tokens, a planner there that commits several tokens at a time (its law is not the model's),
/// or the same seed (some texts would be the same).
void CheckLawReference(const std::string& folder, const Configuration& here);

/// Adds self_overlap if there are at least two texts, and law_distance and law_p if the reference has two as well.
void AddVariety(std::span<const PromptedText> texts, std::span<const PromptedText> reference,
                std::vector<Figure>& figures);

}  // namespace punt
