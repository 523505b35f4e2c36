/** What is larger or deeper stays as it came: indented it could be a hundred times as long. */
const most = { chars: 200_000, depth: 20 };

/** JSON with a line for each value, where that is little. */
export function indented(raw: string): string {
  if (raw.length > most.chars || depthOf(raw) > most.depth) return raw;
  try {
    return JSON.stringify(JSON.parse(raw), null, 1);
  } catch {
    return raw; // cut off, or no JSON after all: as it is
  }
}

/** Texts are passed over, for brackets in them could hide the others. */
function depthOf(raw: string): number {
  let [depth, deepest, isText] = [0, 0, false];
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i];
    if (char === '"') isText = !isText;
    else if (isText) i += char === '\\' ? 1 : 0;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, ++depth);
    else if (char === ']' || char === '}') depth--;
  }
  return deepest;
}
