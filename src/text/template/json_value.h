// JSON in chat templates: of a request as a value, and values as JSON.
#pragma once

#include <jinja/value.h>

#include <string_view>

namespace punt {

/// All its texts, names of members included, count as a message's. Null when the text is no JSON object, nests deeper
/// than any honest one, or a text of it holds a zero byte.
jinja::value ObjectOfJson(std::string_view text);

/// tojson(value, ensure_ascii, indent, separators, sort_keys) as transformers has it. The engine's own writes six
/// digits of a number. The value must be shallow (TemplateMeter::Measure).
jinja::value ToJson(const jinja::func_args& args);

}  // namespace punt
