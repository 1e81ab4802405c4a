// A masked language model used as a protein model: a token per amino acid, and how likely it finds a sequence.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "likelihood/masked_questions.h"
#include "punt/model.h"
#include "punt/types.h"

namespace punt {

/// Immutable; the model outlives it.
class ProteinModel {
 public:
  /// Throws Error when an amino acid has no token of its own.
  explicit ProteinModel(const Model& model);

  /// All tokens but those of the 20 amino acids.
  std::vector<Token> BannedTokens() const;

  /// Of one of the 20 letters.
  Token TokenOf(char residue) const;

  /// The longest protein it takes, in residues.
  int room() const;

  /// Tokens of residues, which may be masks, between what the tokenizer puts around a sequence; and back.
  std::vector<Token> Wrap(std::span<const Token> residues) const;
  std::span<const Token> Unwrap(std::span<const Token> canvas) const;

  /// A sequence of the 20 letters as a whole canvas. Throws Error naming another letter, and when it does not fit.
  std::vector<Token> CanvasOf(std::string_view sequence) const;

  /// Positions of a canvas that hold residues.
  std::vector<Position> ResiduePositions(std::span<const Token> canvas) const;

  /// A canvas in which some residues are to be predicted from the others.
  MaskedQuestion Mask(std::span<const Token> canvas, std::span<const Position> positions) const;

  /// sum_i -ln p(x_i | all other residues): a pass per residue.
  double PseudoNll(DenoiserSession& session, std::span<const Token> canvas) const;

 private:
  const Model& model_;
  std::vector<Token> residues_;  // in the order of kAminoAcids
};

}  // namespace punt
