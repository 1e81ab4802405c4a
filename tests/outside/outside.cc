// What a user of the installed library writes: a chat that is told as it settles, with stop strings and a way to end
// it, and a planner of one's own by name.
#include <punt/writer.h>

#include <iostream>

struct BestTwo : punt::Planner {  // proposals come with the surest first
  punt::Plan Decide(const punt::StepView& view) const override {
    punt::Plan plan{.commit = {view.proposals[0].position}};
    if (view.proposals.size() > 1) plan.commit.push_back(view.proposals[1].position);
    return plan;
  }
};

int main(int, char** argv) {
  punt::RegisterPlanner({.name = "best-two", .summary = "two a step", .make = [](const punt::Params&) {
                           return std::make_shared<const BestTwo>();
                         }});
  const punt::Writer writer = punt::Writer::Open(argv[1]);
  const punt::Ask ask{.chat = {{"user", argv[2]}}, .length = 40};
  std::stop_source source;
  std::size_t bytes = 0;
  const auto tell = [&](std::string_view more) {
    std::cout << more << std::flush;
    if ((bytes += more.size()) > 4) source.request_stop();
  };
  const punt::Answer whole = writer.Write(ask, {.planner = "best-two", .temperature = 0, .stop = {"\n"}});
  const punt::Answer cut =
      writer.Write(ask, {.planner = "left-to-right"}, {.on_text = tell, .stop = source.get_token()});
  std::cout << "\n" << whole.text << "\n" << whole.run.steps << " " << Name(cut.run.stop) << "\n";
}
