#include "tasks/protein/protein_reference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "eval/stream.h"
#include "punt/error.h"

namespace punt {
namespace {

std::string RandomProtein(RandomStream& random, std::size_t length) {
  std::string sequence;
  while (sequence.size() < length) sequence += kAminoAcids[random.Below(kAminoAcids.size())];
  return sequence;
}

std::vector<FastaRecord> RandomRecords(int count) {
  std::vector<FastaRecord> records;
  RandomStream random = EvalStream("reference test", 1, 0);
  for (int i = 0; i < count; ++i) {
    records.push_back({fmt::format("r{}", i), RandomProtein(random, 30 + random.Below(60))});
  }
  return records;
}

/// With every `each`th residue replaced, and one dropped.
std::string Changed(std::string sequence, std::size_t each) {
  for (std::size_t i = 1; i < sequence.size(); i += each) sequence[i] = sequence[i] == 'W' ? 'G' : 'W';
  sequence.erase(sequence.size() / 2, 1);
  return sequence;
}

TEST(ProteinReference, TheNearestOfASmallSetIsExact) {
  const std::vector<FastaRecord> records = RandomRecords(60);
  ProteinReference reference(records);
  RandomStream random = EvalStream("reference test", 1, 1);
  for (int i = 0; i < 20; ++i) {
    const std::string asked = i % 2 == 0 ? RandomProtein(random, 40) : Changed(records[i].sequence, 3);
    int most = 0;
    for (const FastaRecord& record : records) {
      most = std::max(most, Align(EncodeResidues(asked), EncodeResidues(record.sequence)).identical);
    }
    const NearestProtein nearest = reference.Nearest(asked);
    EXPECT_DOUBLE_EQ(nearest.identity, most / static_cast<double>(asked.size()));
    EXPECT_FALSE(nearest.is_copy);
    if (i % 2 == 1) {
      EXPECT_EQ(nearest.name, records[i].name);
    }
  }
}

TEST(ProteinReference, WordsFindTheRelated) {
  const std::vector<FastaRecord> records = RandomRecords(400);
  ProteinReference all(records, 1, records.size());
  ProteinReference few(records, 1, 8);
  ProteinReference parallel(records, 3, 8);
  for (std::size_t i = 0; i < records.size(); i += 7) {
    const std::string asked = Changed(records[i].sequence, 5);  // four of five residues are left
    EXPECT_EQ(few.Nearest(asked).name, records[i].name);
    EXPECT_EQ(few.Nearest(asked).identity, all.Nearest(asked).identity);
    EXPECT_EQ(few.Nearest(asked).identity, parallel.Nearest(asked).identity);
  }
}

TEST(ProteinReference, CopiesAndPieces) {
  ProteinReference reference({{"a", "MKVLAT"},
                              {"b",
                               "MKXX"
                               "XXGG"}});
  EXPECT_EQ(reference.Nearest("MKVLAT").name, "a");
  EXPECT_TRUE(reference.Nearest("MKVLAT").is_copy);
  EXPECT_EQ(reference.Nearest("KVLA").identity, 1);  // all of it is in a, but it is not a
  EXPECT_FALSE(reference.Nearest("KVLA").is_copy);
  EXPECT_EQ(reference.lengths(), (std::vector<double>{6, 8}));
  EXPECT_EQ(reference.composition()[0], 2.0 / 30);  // A: one, and the one that is added to each of twenty
  EXPECT_THROW(ProteinReference(std::vector<FastaRecord>{}), Error);
}

}  // namespace
}  // namespace punt
