// Drawing a canvas in a terminal, live or as plain text.
#pragma once

#include <cstdio>
#include <string>

#include "app/canvas_model.h"
#include "app/terminal.h"

namespace punt {

struct FrameOptions {
  int width = 80;       // columns; at least kNarrowest are assumed
  int max_lines = 0;    // a longer frame shows a part of the canvas; 0: as many as it takes
  bool colour = false;  // without it the proposals of a step in progress are not shown: masks stay masks
  bool show_title = true;
  bool show_canvas = true;
};

inline constexpr int kNarrowest = 10;

/// A title, the canvas and one or two status lines, each ending in a line feed, none wider than
/// options.width. Lines break between words where they can. Tokens that are not text (BOS) are not shown. It contains
/// no escape sequences but SGR, and none at all without colour. A pure function.
std::string RenderFrame(const CanvasModel& model, const FrameOptions& options);

enum class ViewKind { kNone, kPlain, kLive };

struct ViewOptions {
  ViewKind kind = ViewKind::kNone;
  bool colour = false;
  int delay_ms = 60;   // after each frame of a live view
  int keep_lines = 0;  // lines of the screen above the frame that should stay visible
  bool show_title = true;
  bool ends_with_canvas = true;  // else a live view ends with its title and status: the caller prints the text
  std::FILE* out = stdout;
};

/// Shows a run as it happens. Live: one frame per round and commit, drawn over the one before; the last one stays, in
/// full, however high it is, so that all of it can be scrolled to. Plain: one frame per step, one below the other, and
/// one at the end. Not thread-safe.
class CanvasView : public Observer {
 public:
  explicit CanvasView(const ViewOptions& options);
  void On(const TraceEvent& event) override;

  const CanvasModel& model() const { return model_; }

 private:
  void Draw();
  void DrawLast();

  ViewOptions options_;
  CanvasModel model_;
  LiveScreen screen_;
  bool is_first_frame_ = true;
};

}  // namespace punt
