import type { ToolResult } from '../../../kernel/index.ts';
import { textOf } from '../../support/toolbench.ts';

const block = /<<<UNTRUSTED_CONTENT (\w{16}) from "MCP server [^"]*">>>\nWhat follows .*\n---\n([^]*?)\n<<<END_UNTRUSTED_CONTENT \1>>>/g;
const line = /<<<UNTRUSTED_CONTENT (\w{16}) from "MCP server [^"]*">>> (.*?) <<<END_UNTRUSTED_CONTENT \1>>>/g;

/** All text of a result without the marks around what a server says. */
export const said = (result: ToolResult) => textOf(result).replace(block, '$2').replace(line, '$2');
