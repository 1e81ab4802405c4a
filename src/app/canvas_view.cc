#include "app/canvas_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/glyphs.h"

namespace punt {
namespace {

std::string_view StyleOf(CellState state) {
  switch (state) {
    case CellState::kPrompt:
      return "\x1b[1m";
    case CellState::kMasked:
      return "\x1b[2m";
    case CellState::kEarlier:
      return "";
    case CellState::kAnchor:
      return "\x1b[32m";
    case CellState::kCandidate:
      return "\x1b[33m";
    case CellState::kAccepted:
      return "\x1b[1;32m";
    case CellState::kRejected:
      return "\x1b[31m";
  }
  return "";
}

bool IsFilled(CellState state) {
  return state == CellState::kPrompt || state == CellState::kEarlier || state == CellState::kAccepted;
}

struct Line {
  std::string text;
  bool is_open = false;  // some position of it is not filled
};

/// Breaks the cells into lines of at most `width` columns.
class Layout {
 public:
  Layout(int width, bool colour) : width_(width), colour_(colour) {}

  void Put(const Glyph& glyph, CellState state) {
    if (column_ + glyph.width > width_) Break();
    if (colour_ && StyleOf(state) != style_) {
      if (!style_.empty()) line_.text += "\x1b[0m";
      style_ = StyleOf(state);
      line_.text += style_;
    }
    line_.text += glyph.bytes;
    line_.is_open |= !IsFilled(state);
    column_ += glyph.width;
    if (glyph.breaks_line) Break();
  }

  std::vector<Line> Finish() {
    if (column_ > 0) Break();
    return std::move(lines_);
  }

 private:
  void Break() {
    if (!style_.empty()) line_.text += "\x1b[0m";
    style_ = "";
    lines_.push_back(std::move(line_));
    line_ = {};
    column_ = 0;
  }

  int width_;
  bool colour_;
  std::vector<Line> lines_;
  Line line_;
  int column_ = 0;
  std::string_view style_;
};

std::vector<Line> LayOut(const CanvasModel& model, const FrameOptions& options, int width) {
  // One glyph per mask, whatever the width of the piece that will replace it.
  const Glyph mask = options.colour ? Glyph{"\u00b7"} : Glyph{"_"};
  Layout layout(width, options.colour);
  for (const Cell& cell : model.cells()) {
    if (cell.state == CellState::kMasked || (!options.colour && !IsFilled(cell.state))) {
      layout.Put(mask, CellState::kMasked);
      continue;
    }
    for (const Glyph& glyph : Glyphs(model.Piece(cell.token))) layout.Put(glyph, cell.state);
  }
  return layout.Finish();
}

std::string StatusLine(const CanvasModel& model) {
  const Counters& counters = model.counters();
  const double per_forward =
      counters.nfe() == 0 ? 0 : static_cast<double>(model.committed()) / static_cast<double>(counters.nfe());
  const std::string where = model.end() ? fmt::format("{}: {} steps", Name(model.end()->stop), model.end()->steps)
                            : model.step() < 0 ? std::string("start")
                                               : fmt::format("step {}", model.step());
  return fmt::format("{} | {}/{} | NFE {} = {} base + {} test | {:.2f} tokens/forward", where, model.committed(),
                     model.generated(), counters.nfe(), counters.base_passes, counters.test_passes, per_forward);
}

std::string RoundsLine(const CanvasModel& model) {
  std::string text = "rounds (anchors>tests-rejected):";
  for (const RoundSummary& round : model.rounds()) {
    text += fmt::format(" {}>{}-{}", round.anchors, round.tests, round.rejected);
  }
  return model.rounds().empty() ? text + " none" : text;
}

std::string Title(const CanvasModel& model) {
  const RunEvent& run = model.run();
  const std::string sample = run.sample == 0 ? "" : fmt::format("sample {} | ", run.sample);
  return fmt::format("{}{} | {}", sample, run.planner, run.model);
}

}  // namespace

std::string RenderFrame(const CanvasModel& model, const FrameOptions& options) {
  const int width = std::max(options.width, kNarrowest);
  std::string frame;
  int fixed_lines = 1;
  if (options.show_title) {
    frame += FitToWidth(Title(model), width) + "\n";
    ++fixed_lines;
  }
  if (model.has_had_rounds()) ++fixed_lines;

  const std::vector<Line> lines = LayOut(model, options, width);
  std::size_t begin = 0;
  std::size_t end = lines.size();
  if (options.max_lines > 0) {
    const auto room = static_cast<std::size_t>(std::max(1, options.max_lines - fixed_lines));
    if (lines.size() > room) {
      // Work goes on from the first line with an open position; a full canvas shows its end.
      const auto open = std::find_if(lines.begin(), lines.end(), [](const Line& line) { return line.is_open; });
      begin = std::min(static_cast<std::size_t>(open - lines.begin()), lines.size() - room);
      end = begin + room;
    }
  }
  for (std::size_t i = begin; i < end; ++i) frame += lines[i].text + "\n";

  std::string status = StatusLine(model);
  if (end - begin < lines.size()) {
    status = fmt::format("lines {}-{} of {} | {}", begin + 1, end, lines.size(), status);
  }
  frame += FitToWidth(status, width) + "\n";
  if (model.has_had_rounds()) frame += FitToWidth(RoundsLine(model), width) + "\n";
  return frame;
}

CanvasView::CanvasView(const ViewOptions& options) : options_(options), screen_(options.out) {}

void CanvasView::On(const TraceEvent& event) {
  model_.On(event);
  if (options_.kind == ViewKind::kNone) return;
  const bool is_live = options_.kind == ViewKind::kLive;
  const bool is_round = std::holds_alternative<RoundEvent>(event);
  const bool is_commit = std::holds_alternative<CommitEvent>(event);
  const bool is_end = std::holds_alternative<EndEvent>(event);
  if (std::holds_alternative<RunEvent>(event)) {
    screen_.StartOver();
    is_first_frame_ = true;
  }
  if (is_commit || is_end || (is_live && is_round)) Draw();
  if (is_live && (is_commit || is_round)) Pause(options_.delay_ms);
}

void CanvasView::Draw() {
  FrameOptions frame{.width = 80, .colour = options_.colour, .show_title = options_.show_title};
  if (options_.kind == ViewKind::kPlain) {
    frame.show_title = options_.show_title && is_first_frame_;
    is_first_frame_ = false;
    fmt::print(options_.out, "{}", RenderFrame(model_, frame));
    std::fflush(options_.out);
    return;
  }
  const TerminalSize size = SizeOf(options_.out);
  frame.width = size.columns;
  frame.max_lines = std::max(4, size.lines - 1 - options_.keep_lines);
  screen_.Draw(RenderFrame(model_, frame));
}

}  // namespace punt
