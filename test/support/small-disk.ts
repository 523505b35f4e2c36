import { logOf } from '../../kernel/log.ts';
import type { Message } from '../../plugins/sessions/contract.ts';
import { openTranscript } from '../../plugins/sessions/transcript.ts';

/** `node small-disk.ts <file>` under a limit of the file's size: a line that fits, one that does not, one that fits. */
const [file = ''] = process.argv.slice(2);
const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const transcript = openTranscript({ file, sessionId: 's', workspace: '/ws', log: logOf(() => {}) });
await transcript.append(user('small'));
await transcript.append(user('x'.repeat(100_000))).catch((error: { code: string }) => console.log(error.code));
await transcript.append(user('after'));
