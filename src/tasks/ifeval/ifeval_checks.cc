#include "tasks/ifeval/ifeval_checks.h"

#include <algorithm>

#include "tasks/ifeval/ifeval_check_functions.h"

namespace punt {

std::span<const IfevalCheckRow> IfevalChecks() {
  using namespace ifeval;
  static constexpr IfevalCheckRow kRows[] = {
      {"change_case:capital_word_frequency", CapitalWordFrequency, "capital_frequency", "capital_relation", "", ""},
      {"change_case:english_capital", EnglishCapital, "", "", "", ""},
      {"change_case:english_lowercase", EnglishLowercase, "", "", "", ""},
      {"combination:repeat_prompt", RepeatPrompt, "", "", "prompt_to_repeat", ""},
      {"combination:two_responses", TwoResponses, "", "", "", ""},
      {"detectable_content:number_placeholders", Placeholders, "num_placeholders", "", "", ""},
      {"detectable_content:postscript", Postscript, "", "", "postscript_marker", ""},
      {"detectable_format:constrained_response", ConstrainedResponse, "", "", "", ""},
      {"detectable_format:json_format", JsonFormat, "", "", "", ""},
      {"detectable_format:multiple_sections", MultipleSections, "num_sections", "", "section_spliter", ""},
      {"detectable_format:number_bullet_lists", BulletLists, "num_bullets", "", "", ""},
      {"detectable_format:number_highlighted_sections", HighlightedSections, "num_highlights", "", "", ""},
      {"detectable_format:title", Title, "", "", "", ""},
      {"keywords:existence", Existence, "", "", "keywords", ""},
      {"keywords:forbidden_words", ForbiddenWords, "", "", "forbidden_words", ""},
      {"keywords:frequency", KeywordFrequency, "frequency", "relation", "keyword", ""},
      {"keywords:letter_frequency", LetterFrequency, "let_frequency", "let_relation", "letter", ""},
      {"language:response_language", ResponseLanguage, "", "", "language", ""},
      {"length_constraints:nth_paragraph_first_word", NthParagraphFirstWord, "num_paragraphs", "", "first_word",
       "nth_paragraph"},
      {"length_constraints:number_paragraphs", NumberParagraphs, "num_paragraphs", "", "", ""},
      {"length_constraints:number_sentences", NumberSentences, "num_sentences", "relation", "", ""},
      {"length_constraints:number_words", NumberWords, "num_words", "relation", "", ""},
      {"punctuation:no_comma", NoComma, "", "", "", ""},
      {"startend:end_checker", EndsWith, "", "", "end_phrase", ""},
      {"startend:quotation", Quotation, "", "", "", ""},
  };
  return kRows;
}

const IfevalCheckRow* FindIfevalCheck(std::string_view id) {
  const std::span<const IfevalCheckRow> rows = IfevalChecks();
  const auto row = std::find_if(rows.begin(), rows.end(), [id](const IfevalCheckRow& one) { return one.id == id; });
  return row == rows.end() ? nullptr : &*row;
}

bool Compares(const IfevalInstruction& instruction, std::size_t count) {
  const bool reached = static_cast<long>(count) >= instruction.number;
  return reached == instruction.at_least;
}

}  // namespace punt
