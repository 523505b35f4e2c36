/** An answer of which no message is longer than `most`: else it ends with the error that `tooLong` makes. `end` hears of every end. */
export function bounded(answer: Response, most: number, tooLong: () => Error, end: () => void): Response {
  if (!answer.body) {
    end();
    return answer;
  }
  const sizeWith = /^text\/event-stream/i.test(answer.headers.get('content-type') ?? '') ? eventSize() : wholeSize();
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (sizeWith(chunk) <= most) return controller.enqueue(chunk);
      end(); // an error of our own is told to nobody else
      controller.error(tooLong());
    },
    flush: end,
    cancel: end,
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, statusText, headers });
}

function wholeSize() {
  let size = 0;
  return (chunk: Uint8Array) => (size += chunk.length);
}

/** Of an event stream, which may be open for days, the size since the last empty line. */
function eventSize() {
  let [size, line] = [0, 0];
  return (chunk: Uint8Array) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      line += end - from - (end > from && chunk[end - 1] === 13 ? 1 : 0);
      size = line === 0 ? 0 : size + end + 1 - from;
      [line, from] = [0, end + 1];
    }
    line += chunk.length - from;
    return (size += chunk.length - from);
  };
}
