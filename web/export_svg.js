export function exportSvg() { return ""; }
