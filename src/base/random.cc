#include "punt/random.h"

#include <cmath>

namespace punt {

double RandomStream::Gumbel() { return -std::log(-std::log(Uniform())); }

double TokenGumbel(std::uint64_t stream_name, Token token) {
  return -std::log(-std::log1p(-TokenUniform(stream_name, token)));
}

}  // namespace punt
