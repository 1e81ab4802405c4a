// Regular expressions as patterns. The dialect is that part of ECMAScript's and Python's common syntax that describes a
// regular language; docs/constraints.md has it in full:
//
//   abc \. \n \x41 \u00e9 \u{1f600}   characters          .          any character but a line feed
//   [a-z_] [^"\\] \d \w \s \D \W \S    sets, of ASCII      (x) (?:x) (?<name>x)   groups
//   x|y  x*  x+  x?  x{2} x{2,} x{2,5} and lazy forms, which mean the same here
//   ^ $                                the beginning and the end of the text, only there
#pragma once

#include <string_view>

#include "constrain/pattern.h"

namespace punt {

/// How characters are written in the text that is matched.
enum class Writing {
  kPlain,
  kJsonString  // as within the quotes of a JSON string: \" \\ \n, and \u00XX for other control characters
};

/// One character of the set, so written.
PatternRef Written(const CharacterSet& characters, Writing writing);

/// The text, so written. It must be UTF-8.
PatternRef WrittenText(std::string_view text, Writing writing);

/// Which part of a text the expression describes.
enum class Extent {
  kWhole,  // all of it
  kPart    // any part, unless it is anchored: what JSON Schema means
};

/// Throws Error, which calls the expression `what` and names the place, when it is not in the dialect, or when groups
/// are nested too deeply or a repetition counts too far.
/// `most`: what upper bounds of repetitions are cut to, unless the lower one is larger.
PatternRef ParseRegex(std::string_view regex, std::string_view what, Writing writing = Writing::kPlain,
                      Extent extent = Extent::kWhole, int most = 10'000);

}  // namespace punt
