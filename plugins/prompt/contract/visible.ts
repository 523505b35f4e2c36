/** A text without what nobody sees, control characters, and halves of characters. */
export const visible = (text: string): string => (isDoubtful(text) ? text.toWellFormed().replace(unseen, '') : text);

/** Persian words and some emoji are made with joiners: they stay. */
const unseen = /[[\p{Cf}\p{Co}\p{Cn}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]--[\u200c\u200d]]/gv;
const plain = /[^\t\n\r\x20-\x7e]/;

const kinds = { unknown: 0, seen: 1, doubtful: 2 } as const;
/** By code point. The pattern costs ten times as much for each character, and most texts have nothing that it finds. */
let table: Uint8Array | undefined;

function isDoubtful(text: string): boolean {
  if (!plain.test(text)) return false;
  const known = (table ??= new Uint8Array(0x110000));
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if ((code & 0xfc00) === 0xd800) {
      code = text.codePointAt(i) ?? code;
      if (code > 0xffff) i++;
    }
    if ((known[code] || (known[code] = kindOf(code))) === kinds.doubtful) return true;
  }
  return false;
}

function kindOf(code: number): number {
  const character = String.fromCodePoint(code);
  return character.isWellFormed() && character.replace(unseen, '') === character ? kinds.seen : kinds.doubtful;
}
