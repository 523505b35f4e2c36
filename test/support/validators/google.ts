import { checkImage, checkText, type Findings, findings, isFilled, isObject, type Json, listOf } from './rules.ts';

/**
 * Google, generateContent: contents of `user` and `model`, none without parts, no part without something in it; a turn of
 * function calls comes right after a user's or a function responses' turn, and the very next content holds as many
 * responses of the same names, and nothing else does; with ids where the model wants them. Gemini 3: the first call of
 * each step of the turn under way carries a thought signature.
 */
export function googleFaults(body: Json, raw: string, modelId: string): readonly string[] {
  const all = findings();
  const { add, found } = all;
  checkText(raw, all);
  const contents = listOf(body['contents']);
  const isThird = /^gemini-[3-9]/.test(modelId);
  let waiting: readonly Json[] = [];
  for (const [i, { role, parts: said }] of contents.entries()) {
    const at = `contents[${i}] (${String(role)})`;
    const parts = listOf(said);
    if (role !== 'user' && role !== 'model') add(at, 'unknown role');
    if (parts.length === 0) add(at, 'no parts');
    const [calls, responses] = [partsOf(parts, 'functionCall'), partsOf(parts, 'functionResponse')];
    checkResponses(at, waiting, responses, isThird, all);
    if (role === 'user' && calls.length) add(at, 'a function call of a user');
    if (role === 'model' && responses.length) add(at, 'a function response of the model');
    if (calls.length && contents[i - 1]?.['role'] !== 'user')
      add(at, 'function call turn must come right after a user or function response turn');
    for (const part of parts) checkPart(at, part, role === 'model', all);
    waiting = calls;
  }
  if (waiting.length) add('end', 'function calls without responses');
  if (contents[0]?.['role'] !== 'user') add('contents[0]', 'not a user’s');
  if (contents.at(-1)?.['role'] !== 'user') add('end', 'the last word is not a user’s');
  if (isThird) checkSignatures(contents, all);
  return found;
}

const partsOf = (parts: readonly Json[], kind: string): readonly Json[] => parts.map((part) => part[kind]).filter(isObject);

function checkResponses(at: string, calls: readonly Json[], responses: readonly Json[], withIds: boolean, { add }: Findings) {
  if (calls.length !== responses.length) return add(at, `${responses.length} function responses to ${calls.length} calls before`);
  for (const [i, { name, response, id, parts }] of responses.entries()) {
    if (name !== calls[i]?.['name']) add(at, `response of ${String(name)} to a call of ${String(calls[i]?.['name'])}`);
    if (withIds && (id === undefined || id !== calls[i]?.['id'])) add(at, `response ${String(id)} to call ${String(calls[i]?.['id'])}`);
    if (!isObject(response)) add(at, 'a response that is no object');
    for (const part of listOf(parts)) checkInline(at, part, { found: [], add });
  }
  const ids = calls.map(({ id }) => id);
  if (withIds && new Set(ids).size !== ids.length) add(at, 'ids twice');
}

function checkInline(at: string, part: Json, all: Findings) {
  const { mimeType, data } = (part['inlineData'] ?? {}) as Json;
  checkImage(at, mimeType, data, all);
}

function checkPart(at: string, part: Json, isModel: boolean, all: Findings) {
  const { text, functionCall, functionResponse, inlineData, thoughtSignature } = part;
  if (thoughtSignature !== undefined && !/^[A-Za-z0-9+/_-]+={0,2}$/.test(typeof thoughtSignature === 'string' ? thoughtSignature : ''))
    all.add(at, 'a signature that is no base64');
  if (isObject(functionCall)) {
    const { name, args } = functionCall;
    if (!/^[a-zA-Z_][\w.:-]{0,63}$/.test(String(name))) all.add(at, `name ${String(name)}`);
    if (!isObject(args)) all.add(at, 'args are no object');
  } else if (inlineData !== undefined) {
    if (isModel) all.add(at, 'an image of the model');
    checkInline(at, part, all);
  } else if (functionResponse === undefined && !isFilled(text) && !(isModel && thoughtSignature)) all.add(at, 'a part with nothing in it');
}

function checkSignatures(contents: readonly Json[], { add }: Findings) {
  const asked = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && listOf(parts).some((part) => part['functionResponse'] === undefined),
  );
  for (const { role, parts } of contents.slice(asked + 1)) {
    const first = role === 'model' ? listOf(parts).find((part) => part['functionCall'] !== undefined) : undefined;
    if (first && !first['thoughtSignature']) add('the turn under way', 'a first function call without thought signature');
  }
}
