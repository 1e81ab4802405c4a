// What a user of the installed library writes: generate with PUNT on an exact toy model.
#include <punt/generator.h>
#include <punt/model.h>

#include <iostream>

int main() {
  const punt::Model model = punt::OpenModel("toy:markov,length=32,vocab=8,seed=1,coupling=0.9,permute=true");
  const punt::DenoiserInfo& info = model.denoiser->info();
  const auto session = model.denoiser->NewSession({});
  const punt::Canvas canvas(std::vector<punt::Token>(32, info.mask_token), info.mask_token, info.vocab_size);
  const punt::Recipe recipe = punt::MakeRecipe("punt:epsilon=0.04", "margin", {}, info);
  const punt::GenerateResult result = punt::Generate(*session, canvas, recipe);
  std::cout << model.tokenizer->Decode(result.tokens) << " in " << result.counters.nfe() << " passes\n";
}
