/** The first that fits answers; `$1` is what was said, seen from the other side. */
const rules: readonly (readonly [RegExp, string])[] = [
  [/\bi need (.+)/i, 'Why do you need $1?'],
  [/\bi(?: am|'m) (.+)/i, 'How long have you been $1?'],
  [/\bi (?:feel|felt) (.+)/i, 'Do you often feel $1?'],
  [/\bbecause (.+)/i, 'Is that the real reason?'],
  [/\b(mother|father|sister|brother)\b/i, 'Tell me more about your $1.'],
  [/\?\s*$/, 'Why do you ask that?'],
  [/\b(?:hello|hi)\b/i, 'How do you do. What is your problem?'],
];

const mirror: Readonly<Record<string, string>> = { i: 'you', me: 'you', my: 'your', am: 'are', you: 'I', your: 'my' };

export function answerTo(heard: string): string {
  for (const [pattern, answer] of rules) {
    const [found, said = ''] = pattern.exec(heard) ?? [];
    if (found) return answer.replace('$1', () => turned(said));
  }
  return 'Please go on.';
}

const turned = (said: string) => said.replace(/[.!?\s]+$/, '').replace(/\w+/g, (word) => mirror[word.toLowerCase()] ?? word);
