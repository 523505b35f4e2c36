import type { Answer } from './answer.ts';
import { follow, list, message, textOf, type Facts, type Json, type Wire } from './wire.ts';

/** `POST …/responses`, OpenAI's. */
export const responses: Wire = {
  api: 'openai-responses',
  read(body) {
    const talk = follow();
    if (typeof body['instructions'] === 'string') talk.system(body['instructions']);
    const input = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : list(body['input']);
    for (const each of input) {
      const text = textOf(each['content']);
      talk.image(list(each['content']).filter((part) => part['type'] === 'input_image').length);
      if (each['type'] === 'function_call') talk.assistant(true);
      else if (each['type'] === 'function_call_output') talk.result(textOf(each['output']));
      else if (each['role'] === 'assistant') talk.assistant(false);
      else if (each['role'] === 'user') talk.user(text);
      else if (each['role']) talk.system(text);
    }
    return talk.asked(list(body['tools']).map((tool) => tool['name']));
  },
  streams: (body) => body['stream'] === true,
  frames(answer, facts) {
    let sequence_number = 0;
    const frame = (type: string, data: Json) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...data })}\n\n`;
    const frames = [frame('response.created', { response: { ...whole(answer, facts), status: 'in_progress', output: [] } })];
    const items = itemsOf(answer, facts);
    items.forEach((item, output_index) => frames.push(...itemFrames(item, output_index, answer, frame)));
    if (!answer.cut) frames.push(frame('response.completed', { response: whole(answer, facts) }));
    return frames;
  },
  whole,
  error: (status, overflow) => ({
    error: { message: message(status, overflow), type: status >= 500 ? 'server_error' : 'invalid_request_error', code: null },
  }),
};

type Frame = (type: string, data: Json) => string;

function itemFrames(item: Json, output_index: number, answer: Answer, frame: Frame): string[] {
  const at = { output_index, item_id: item['id'] };
  const done = frame.bind(undefined, 'response.output_item.done', { output_index, item });
  const added = (begun: Json) => frame('response.output_item.added', { output_index, item: { ...item, ...begun } });
  if (item['type'] === 'reasoning') return reasoningFrames(item, at, answer, frame);
  if (item['type'] === 'function_call') {
    const args = item['arguments'] as string;
    const delta = answer.cut === 'arguments' ? args.slice(0, 6) : args;
    const frames = [added({ arguments: '' }), frame('response.function_call_arguments.delta', { ...at, delta })];
    if (answer.cut) return frames;
    return [...frames, frame('response.function_call_arguments.done', { ...at, arguments: args }), done()];
  }
  const place = { ...at, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  const frames = [added({ status: 'in_progress', content: [] }), frame('response.content_part.added', { ...place, part })];
  for (const delta of answer.deltas) frames.push(frame('response.output_text.delta', { ...place, delta }));
  if (answer.cut) return frames;
  const text = answer.deltas.join('');
  frames.push(frame('response.output_text.done', { ...place, text }));
  return [...frames, frame('response.content_part.done', { ...place, part: { ...part, text } }), done()];
}

function reasoningFrames(item: Json, at: Json, answer: Answer, frame: Frame): string[] {
  const place = { ...at, summary_index: 0 };
  const { output_index } = at;
  return [
    frame('response.output_item.added', { output_index, item: { ...item, summary: [] } }),
    frame('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } }),
    frame('response.reasoning_summary_text.delta', { ...place, delta: answer.thinking }),
    frame('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text: answer.thinking } }),
    frame('response.output_item.done', { output_index, item }),
  ];
}

function itemsOf(answer: Answer, facts: Facts): readonly Json[] {
  const items: Json[] = [];
  if (answer.thinking) {
    items.push({ type: 'reasoning', id: `rs_${facts.id}`, summary: [{ type: 'summary_text', text: answer.thinking }] });
  }
  if (answer.deltas.length > 0) {
    const content = [{ type: 'output_text', text: answer.deltas.join(''), annotations: [] }];
    items.push({ type: 'message', id: `msg_${facts.id}`, role: 'assistant', status: 'completed', content });
  }
  answer.calls.forEach(({ id, name, args }, index) => {
    items.push({ type: 'function_call', id: `fc_${facts.id}_${index}`, call_id: id, name, arguments: args, status: 'completed' });
  });
  return items;
}

function whole(answer: Answer, facts: Facts): Json {
  return {
    id: `resp_${facts.id}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    model: facts.model,
    output: itemsOf(answer, facts),
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: facts.input,
      input_tokens_details: { cached_tokens: facts.cached },
      output_tokens: facts.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: facts.input + facts.output,
    },
  };
}
