// The checks behind the rows of ifeval_checks.cc, by family.
#pragma once

#include "tasks/ifeval/ifeval_checks.h"

namespace punt::ifeval {

using Check = bool(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools& tools);

// ifeval_case_checks.cc: capitals and languages
Check CapitalWordFrequency, EnglishCapital, EnglishLowercase, ResponseLanguage;
// ifeval_keyword_checks.cc
Check Existence, ForbiddenWords, KeywordFrequency, LetterFrequency, NoComma;
// ifeval_length_checks.cc
Check NthParagraphFirstWord, NumberParagraphs, NumberSentences, NumberWords;
// ifeval_format_checks.cc: marks that structure a text
Check BulletLists, HighlightedSections, JsonFormat, MultipleSections, Placeholders, Title;
// ifeval_wording_checks.cc: prescribed beginnings, ends and answers
Check ConstrainedResponse, EndsWith, Postscript, Quotation, RepeatPrompt, TwoResponses;

}  // namespace punt::ifeval
