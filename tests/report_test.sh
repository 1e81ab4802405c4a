#!/usr/bin/env bash
# The HTML report of punt bench: opened in a headless browser, it shows its plots, answers the pointer and the legend, and
# asks nothing of a network. Skipped where there is no chromium. $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden

accepts bench sudoku:size=4 --model $golden/llada --threads 1 --limit 3 --temperatures 0.1,0.7 \
  --planners "top-k:k=1; top-k:k=2; punt:epsilon=0.1" --out board
[ -s board/report.html ] || fail "bench wrote no report.html"
# Whatever a page can fetch by: elements with an address, imports, styles with one.
! grep -qiE '<(link|img|image|use|iframe|object|embed|base|source|script)[ >]|@import|[ :,]url\(|[ "](src|href|action)=' \
  board/report.html || fail "the report runs something or refers to other files"
grep -q "default-src 'none'" board/report.html || fail "no policy against fetching"
accepts bench stories --model $golden/llada --threads 1 --length 8 --limit 1 --planners random --out mute
grep -q "No plots: judge perplexity was not measured" mute/report.html || fail "plots of nothing"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
  [ "$failures" -eq 0 ] || exit 1
  echo "skipped: no chromium, so nothing was opened (Debian: chromium)"
  exit 77
fi

# A copy that acts on itself as a reader would, and notes what comes of it. The original's policy would not let it.
cat >act.html <<'END'
<script>
window.onerror = (message) => { document.documentElement.dataset.error = message; };
addEventListener("load", () => {
  const notes = document.documentElement.dataset;
  document.querySelector("details").open = true;
  const isShown = (node) => node.getClientRects().length > 0;
  const style = (node, part) => getComputedStyle(node)[part];
  const pictures = [...document.querySelectorAll("figure svg")].filter(isShown);
  notes.pictures = pictures.length;
  const inside = (node, frame) => {
    const [a, b] = [node.getBoundingClientRect(), frame.getBoundingClientRect()];
    return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
  };
  const all = (picture, parts, frame) => [...picture.querySelectorAll(parts)].every((node) => inside(node, frame));
  notes.covered = pictures.every((picture) => all(picture, ".mark, .range", picture.querySelector(".axis")));
  notes.texts = pictures.every((picture) => all(picture, "text", picture));
  const letters = [...document.querySelectorAll("figure text")].filter(isShown);
  const scale = (text) => Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b);
  notes.letters = Math.min(...letters.map((text) => scale(text) * parseFloat(style(text, "fontSize")))) > 9.5;
  const labels = [...document.querySelectorAll(".compared label")];
  notes.curves = labels.length;
  const visible = () => pictures.map((picture) =>
    [...picture.querySelectorAll("g")].filter((curve) => style(curve, "display") !== "none").length).join();
  notes.before = visible();
  labels[0].click();
  notes.hidden = visible();
  document.querySelector(".compared button").click();
  notes.after = visible();
  const place = pictures[0].querySelectorAll(".mark")[2].getBoundingClientRect();
  const target = document.elementFromPoint(place.left + place.width / 2, place.top + place.height / 2);
  notes.hover = (target?.querySelector("title")?.textContent ?? "nothing").replaceAll("\n", " / ");
  const punt = labels.find((label) => label.textContent.trim().startsWith("punt"));
  notes.punt = style(punt.querySelector("g"), "color");
  notes.round = punt.querySelector(".mark").getAttribute("d").includes("a");
  notes.ground = style(document.body, "backgroundColor");
  notes.ink = style(pictures[0].querySelector(".ink"), "fill");
  const table = document.querySelector(".figures");
  notes.table = innerWidth < 1100 || table.scrollWidth <= table.parentElement.clientWidth;
  notes.fits = document.documentElement.scrollWidth <= innerWidth;
});
</script>
END
sed -e '/Content-Security-Policy/d' -e '/<\/body>/e cat act.html' board/report.html >acting.html

# look FILE OPTIONS...: opens it; $html is its first tag, with the notes
look() {
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$folder/profile" "${@:2}" \
    --virtual-time-budget=4000 --enable-logging=stderr --dump-dom "file://$folder/$1" >dom 2>log </dev/null
  html=$(grep -m1 '<html' dom)
  ! grep -q 'CONSOLE' log || fail "$*: $(grep CONSOLE log)"
}

# noted NAME PATTERN "what else is wrong"
noted() {
  local value
  value=$(sed -n 's/.* data-'"$1"'="\([^"]*\)".*/\1/p' <<<"$html")
  [[ $value == $2 ]] || fail "$window, $scheme: $3: '$value'"
}

look board/report.html
[[ $html == *'<html lang="en">'* ]] || fail "the page does not open: $html"
for window in 1200,900 500,900; do
  for scheme in light dark; do
    look acting.html --window-size=$window --blink-settings=preferredColorScheme=$([ $scheme = dark ] && echo 0 || echo 1)
    [[ $html != *data-error* ]] || fail "$window, $scheme: an error: $html"
    noted pictures 8 "not all plots are shown"
    noted covered true "a marker or an interval leaves the axes"
    noted texts true "a text leaves its picture"
    noted letters true "letters too small to read"
    noted curves 4 "a legend of other curves"
    noted before 4,4,4,4,4,4,4,4 "a curve is missing"
    noted hidden 3,3,3,3,3,3,3,3 "the legend does not hide a curve"
    noted after 4,4,4,4,4,4,4,4 "nothing shows all curves again"
    noted hover 'top-k:k=* / temperature *, score margin / accuracy: * [[]*] / NFE: *' "nothing on hover"
    noted round true "PUNT is no circle"
    case $scheme in
      dark) punt='rgb(255, 140, 58)' ground='rgb(20, 23, 27)' ink='rgb(231, 234, 238)' ;;
      light) punt='rgb(213, 94, 0)' ground='rgb(255, 255, 255)' ink='rgb(27, 31, 36)' ;;
    esac
    noted punt "$punt" "PUNT is not orange"
    noted ground "$ground" "the page has another ground"
    noted ink "$ink" "letters of another colour"
    noted table true "the table scrolls sideways"
    noted fits true "wider than the window"
  done
done

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
