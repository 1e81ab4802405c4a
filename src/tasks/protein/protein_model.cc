#include "tasks/protein/protein_model.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "base/check.h"
#include "tasks/protein/protein_statistics.h"

namespace punt {
ProteinModel::ProteinModel(const Model& model) : model_(model) {
  std::set<Token> different;
  for (char residue : kAminoAcids) {
    const std::string letter(1, residue);
    const std::vector<Token> tokens = model_.tokenizer->Encode(letter);
    if (tokens.size() != 1 || model_.tokenizer->Decode(tokens) != letter || !different.insert(tokens[0]).second) {
      BadInput("{} has no token of its own for the amino acid {}", model_.name, residue);
    }
    residues_.push_back(tokens[0]);
  }
}

std::vector<Token> ProteinModel::BannedTokens() const {
  std::vector<Token> banned;
  for (Token token = 0; token < model_.denoiser->info().vocab_size; ++token) {
    if (std::find(residues_.begin(), residues_.end(), token) == residues_.end()) banned.push_back(token);
  }
  return banned;
}

Token ProteinModel::TokenOf(char residue) const {
  const std::size_t index = kAminoAcids.find(residue);
  if (index == std::string_view::npos) BadInput("'{}' is not one of the 20 amino acids", residue);
  return residues_[index];
}

int ProteinModel::room() const {
  return model_.denoiser->info().max_length -
         static_cast<int>(model_.tokenizer->Prefix().size() + model_.tokenizer->Suffix().size());
}

std::vector<Token> ProteinModel::Wrap(std::span<const Token> residues) const {
  std::vector<Token> canvas = model_.tokenizer->Prefix();
  const std::vector<Token> suffix = model_.tokenizer->Suffix();
  canvas.insert(canvas.end(), residues.begin(), residues.end());
  canvas.insert(canvas.end(), suffix.begin(), suffix.end());
  return canvas;
}

std::span<const Token> ProteinModel::Unwrap(std::span<const Token> canvas) const {
  const std::size_t before = model_.tokenizer->Prefix().size();
  return canvas.subspan(before, canvas.size() - before - model_.tokenizer->Suffix().size());
}

std::vector<Token> ProteinModel::CanvasOf(std::string_view sequence) const {
  std::vector<Token> tokens;
  for (char residue : sequence) tokens.push_back(TokenOf(residue));
  if (static_cast<int>(tokens.size()) > room()) {
    BadInput("{} residues exceed the {} that {} takes", tokens.size(), room(), model_.name);
  }
  return Wrap(tokens);
}

std::vector<Position> ProteinModel::ResiduePositions(std::span<const Token> canvas) const {
  std::vector<Position> positions(Unwrap(canvas).size());
  std::iota(positions.begin(), positions.end(), static_cast<Position>(model_.tokenizer->Prefix().size()));
  return positions;
}

MaskedQuestion ProteinModel::Mask(std::span<const Token> canvas, std::span<const Position> positions) const {
  return Hide(canvas, positions, model_.denoiser->info().mask_token);
}

double ProteinModel::PseudoNll(DenoiserSession& session, std::span<const Token> canvas) const {
  std::vector<MaskedQuestion> questions;
  for (const Position& position : ResiduePositions(canvas)) questions.push_back(Mask(canvas, {&position, 1}));
  const std::vector<double> sums = MaskedNll(session, questions);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace punt
