#include "app/canvas_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/glyphs.h"
#include "punt/error.h"
#include "punt/planner.h"

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
    case CellState::kEdited:
      return "\x1b[1;35m";
    case CellState::kRejected:
      return "\x1b[31m";
  }
  return "";
}

bool IsFilled(CellState state) {
  return state == CellState::kPrompt || state == CellState::kEarlier || state == CellState::kAccepted ||
         state == CellState::kEdited;
}

struct Line {
  std::string text;
  bool is_open = false;  // some position of it is not filled
};

/// Breaks the cells into lines of at most `width` columns: after a space, a mask or a wide character if there is one
/// in the line, else in the middle of a word. A space at which a line breaks is not shown.
class Layout {
 public:
  Layout(int width, bool colour) : width_(width), colour_(colour) {}

  void Put(const Glyph& glyph, CellState state) {
    const bool is_space = glyph.bytes == " ";
    if (column_ + glyph.width > width_) {
      if (is_space) return BreakAt(row_.size());
      const bool may_begin_line = state == CellState::kMasked || glyph.width > 1;
      BreakAt(may_begin_line || break_at_ == 0 ? row_.size() : break_at_);
    }
    row_.push_back({glyph, state});
    column_ += glyph.width;
    if (is_space || state == CellState::kMasked || glyph.width > 1) break_at_ = row_.size();
    if (glyph.breaks_line) BreakAt(row_.size());
  }

  std::vector<Line> Finish() {
    if (!row_.empty()) BreakAt(row_.size());
    return std::move(lines_);
  }

 private:
  struct Placed {
    Glyph glyph;
    CellState state;
  };

  /// The first `count` become a line; the others begin the next.
  void BreakAt(std::size_t count) {
    const auto end = row_.begin() + static_cast<std::ptrdiff_t>(count);
    Line line;
    std::string_view style;
    for (auto it = row_.begin(); it != end; ++it) {
      line.is_open |= !IsFilled(it->state);
      const bool is_last_space = it + 1 == end && count < row_.size() && it->glyph.bytes == " ";
      if (is_last_space) continue;
      if (colour_ && StyleOf(it->state) != style) {
        if (!style.empty()) line.text += "\x1b[0m";
        style = StyleOf(it->state);
        line.text += style;
      }
      line.text += it->glyph.bytes;
    }
    if (!style.empty()) line.text += "\x1b[0m";
    lines_.push_back(std::move(line));
    row_.erase(row_.begin(), end);
    column_ = 0;
    for (const Placed& placed : row_) column_ += placed.glyph.width;
    break_at_ = 0;
  }

  int width_;
  bool colour_;
  std::vector<Line> lines_;
  std::vector<Placed> row_;
  int column_ = 0;
  std::size_t break_at_ = 0;  // glyphs of the row that may be a line; 0: all or none
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
    if (model.IsControl(cell.token)) continue;
    for (const Glyph& glyph : Glyphs(model.Piece(cell.token))) layout.Put(glyph, cell.state);
  }
  return layout.Finish();
}

std::string StatusText(const CanvasModel& model) {
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

/// Older traces wrote out all parameters, and a trace may come from a program with its own planners.
std::string PlannerTitle(const std::string& spec) {
  try {
    return ShortPlannerSpec(spec);
  } catch (const Error&) {
    return spec;
  }
}

std::string Title(const CanvasModel& model) {
  const RunEvent& run = model.run();
  const std::string sample = run.sample == 0 ? "" : fmt::format("sample {} | ", run.sample);
  return fmt::format("{}{} | {}", sample, PlannerTitle(run.planner), run.model);
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

  const std::vector<Line> lines = options.show_canvas ? LayOut(model, options, width) : std::vector<Line>();
  std::size_t begin = 0;
  std::size_t end = lines.size();
  if (options.max_lines > 0) {
    const auto room = static_cast<std::size_t>(std::max(1, options.max_lines - fixed_lines));
    if (lines.size() > room) {
      // Shown from the first line with an open position; a full canvas shows its end.
      const auto open = std::find_if(lines.begin(), lines.end(), [](const Line& line) { return line.is_open; });
      begin = std::min(static_cast<std::size_t>(open - lines.begin()), lines.size() - room);
      end = begin + room;
    }
  }
  for (std::size_t i = begin; i < end; ++i) frame += lines[i].text + "\n";

  std::string status = StatusText(model);
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
  if (is_live && is_end) return DrawLast();
  if (is_commit || is_end || (is_live && is_round)) Draw();
  if (is_live && (is_commit || is_round)) Pause(options_.delay_ms);
}

void CanvasView::DrawLast() {
  screen_.Draw(RenderFrame(model_, {.width = SizeOf(options_.out).columns,
                                    .colour = options_.colour,
                                    .show_title = options_.show_title,
                                    .show_canvas = options_.ends_with_canvas}));
  screen_.StartOver();
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
