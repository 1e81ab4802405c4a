// Chat templates as programs whose every node is watched.
#pragma once

#include <string>

#include "text/template/meter.h"

namespace punt {

/// The template, ready to run. Each node counts its steps with `meter`, which must outlive the program. Throws
/// TemplateStop, or what the engine throws, when the text is no template or is nested deeper than any honest one.
jinja::program ReadTemplate(const std::string& text, TemplateMeter& meter);

}  // namespace punt
