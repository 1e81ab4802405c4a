#!/usr/bin/env bash
# The HTML report of punt bench: opened in a headless browser, it draws its plots, answers the pointer and the buttons,
# and asks nothing of a network. Skipped where there is no chromium. $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden

accepts bench sudoku:size=4 --model $golden/llada --threads 1 --limit 3 --temperatures 0.1,0.7 \
  --planners "top-k:k=1; top-k:k=2; punt:epsilon=0.1" --out board
[ -s board/report.html ] || fail "bench wrote no report.html"
# Whatever a page can fetch by: elements with an address, imports, styles with one.
! grep -qiE '<(link|img|iframe|object|embed|base|source)[ >]|<script[^>]*src=|@import|[ :,]url\(' board/report.html \
  || fail "the report refers to other files"
grep -q "default-src 'none'" board/report.html || fail "no policy against fetching"
accepts bench stories --model $golden/llada --threads 1 --length 8 --limit 1 --planners random --out mute
grep -q "No plots: judge perplexity was not measured" mute/report.html || fail "plots of nothing"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
  [ "$failures" -eq 0 ] || exit 1
  echo "skipped: no chromium, so nothing was opened (Debian: chromium)"
  exit 77
fi

# A copy that acts on itself as a reader would, and notes what comes of it.
cat >act.html <<'END'
<script>
window.onerror = (message) => { document.documentElement.dataset.error = message; };
addEventListener("load", () => {
  const notes = document.documentElement.dataset;
  const figure = document.querySelector(".plots figure");
  const chart = () => Chart.getChart(figure.querySelector("canvas"));
  const pixels = figure.querySelector("canvas").getContext("2d").getImageData(0, 0, 2000, 2000).data;
  notes.inked = pixels.some((value) => value !== 0);
  notes.curves = document.querySelectorAll(".legend button").length;
  document.querySelector(".legend button").click();
  notes.visible = chart().data.datasets.filter((set, index) => chart().isDatasetVisible(index)).length;
  document.querySelector(".legend button").click();
  const select = figure.querySelector("select");
  select.value = "steps_mean";
  select.dispatchEvent(new Event("change"));
  notes.axis = chart().options.scales.x.title.text;
  const point = chart().getDatasetMeta(2).data[0];
  const place = chart().canvas.getBoundingClientRect();
  chart().canvas.dispatchEvent(new MouseEvent("mousemove", { clientX: place.left + point.x, clientY: place.top + point.y, bubbles: true }));
  setTimeout(() => {
    const tooltip = chart().tooltip;
    notes.hover = `${tooltip.title} / ${(tooltip.body ?? []).flatMap((part) => part.lines).join(" / ")}`;
    const table = document.querySelector(".figures");
    notes.table = innerWidth < 1100 || table.scrollWidth <= table.parentElement.clientWidth;
    const covered = [...document.querySelectorAll("canvas")].every((canvas) => {
      const { y } = Chart.getChart(canvas).scales;
      const values = Chart.getChart(canvas).data.datasets.flatMap((set) => set.data.flatMap((p) => [p.y, ...(p.row.accuracy_ci95 ?? [])]));
      return Math.min(...values) >= y.min && Math.max(...values) <= y.max;
    });
    notes.covered = covered;
    const punt = chart().data.datasets.find((set) => set.label.startsWith("punt"));
    notes.punt = `${punt.pointStyle} ${punt.borderColor}`;
    notes.fits = document.documentElement.scrollWidth <= innerWidth;
  }, 200);
});
</script>
END
sed '/<\/body>/e cat act.html' board/report.html >acting.html
for look in "--window-size=1200,900" "--window-size=500,900 --blink-settings=preferredColorScheme=0"; do
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$folder/profile" $look \
    --virtual-time-budget=4000 --enable-logging=stderr --dump-dom "file://$folder/acting.html" >dom 2>log </dev/null
  html=$(grep -m1 '<html' dom)
  [[ $html == *'data-ready="3"'* ]] || fail "$look: not all plots were drawn: $html"
  [[ $html != *data-error* ]] || fail "$look: an error: $html"
  ! grep -q 'CONSOLE' log || fail "$look: $(grep CONSOLE log)"
  [[ $html == *'data-inked="true"'* ]] || fail "$look: an empty canvas: $html"
  [[ $html == *'data-curves="4"'*'data-visible="3"'* ]] || fail "$look: the legend does not hide a curve: $html"
  [[ $html == *'data-axis="steps per item'* ]] || fail "$look: the axis did not change: $html"
  [[ $html == *'data-hover="top-k:k='*'temperature 0.7, score margin'*'NFE: '* ]] || fail "$look: nothing on hover: $html"
  [[ $html == *'data-table="true"'* ]] || fail "$look: the table scrolls sideways: $html"
  [[ $html == *'data-covered="true"'* ]] || fail "$look: an interval leaves the axes: $html"
  [[ $html == *'data-punt="circle #d55e00"'* || $html == *'data-punt="circle #ff8c3a"'* ]] || fail "$look: PUNT is no orange circle: $html"
  [[ $html == *'data-fits="true"'* ]] || fail "$look: wider than the window: $html"
done

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
