/** A line that never ends is no event stream; it must not fill the memory either. */
const longestLine = 16 * 1024 * 1024;

/**
 * Reads server-sent events as they come, in pieces cut anywhere, and calls back with each event's data. Other fields are
 * of no use to a model stream. An event that the stream's end cuts off is not told.
 */
export function eventReader(each: (data: string) => void): (piece: string) => void {
  let rest = '';
  let data: string | undefined;

  const line = (text: string): void => {
    if (text === '') {
      if (data !== undefined) each(data);
      data = undefined;
    } else if (text.startsWith('data:')) {
      const value = text.slice(text.charCodeAt(5) === 32 ? 6 : 5);
      data = data === undefined ? value : `${data}\n${value}`;
    }
  };

  return (piece) => {
    let text = rest + piece;
    if (text.includes('\r')) {
      // A \r at the end may be half of \r\n: it waits for the next piece.
      const half = text.endsWith('\r') ? '\r' : '';
      text = text.slice(0, text.length - half.length).replace(/\r\n?/g, '\n') + half;
    }
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      line(text.slice(start, end));
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > longestLine) throw new RangeError(`a line of over ${longestLine} characters`);
  };
}
