import { basename } from 'node:path';
import type { Executable } from './executable.ts';

const list = (names: string) => new Set(names.split(/\s+/).filter(Boolean));

/** Programs that execute text or other programs: what they run is not what is named. Never granted, alone or with arguments. */
const tables = [
  { what: 'a shell', names: list('sh bash dash zsh ksh mksh fish csh tcsh ash rbash rksh yash posh elvish nu xonsh pwsh powershell') },
  {
    what: 'an interpreter',
    names:
      list(`python pypy ipython ruby irb perl php lua luajit node nodejs deno bun tsx ts-node awk gawk mawk nawk original-awk sed gsed ed ex vi vim
      nvim view emacs emacsclient nano less more most man tclsh wish expect guile ghci runghc R Rscript julia erl escript elixir iex osascript java jshell
      groovy scala kotlin swift gdb lldb sqlite3 mysql psql dc m4 gnuplot octave maxima racket sbcl clojure bb jrunscript ld.so`),
  },
  {
    what: 'a wrapper that starts other programs',
    names:
      list(`env sudo sudoedit doas su runuser pkexec gosu setpriv xargs nice ionice chrt taskset timeout nohup setsid stdbuf unbuffer time strace ltrace
      ssh scp sftp rsh mosh telnet socat nc ncat netcat busybox toybox coreutils parallel watch entr flock chroot unshare nsenter systemd-run at batch crontab script
      screen tmux firejail bwrap proot fakeroot faketime rlwrap daemonize start-stop-daemon run-parts xvfb-run dbus-run-session
      docker-compose exec eval command builtin source capsh prlimit setarch linux32 linux64 i386 x86_64 uname26 cgexec proxychains proxychains4 torsocks torify`),
  },
  { what: 'a control of the gateway itself', names: list('instar openclaw') },
] as const;

/** They execute what files of the workspace say: only exact arguments, or a pattern for them, can be granted. */
const runners =
  list(`git hg svn npm npx pnpm pnpx yarn bunx corepack make gmake cmake ninja meson just task cargo rustc go gradle gradlew mvn ant rake bundle gem
  pip pip3 pipx uv uvx poetry pdm tox nox composer dotnet msbuild gcc cc g++ clang tsc eslint oxlint biome prettier vite vitest jest mocha pytest ansible
  terraform tar bsdtar rsync zip docker podman kubectl helm nix nix-shell guix brew apt apt-get dpkg yum dnf pacman systemctl service gpg openssl tee dd
  curl wget`);

/** Arguments that make an otherwise plain program one that starts others, writes or removes. Abbreviations too. */
const turns: Readonly<Record<string, RegExp>> = {
  find: /^-(exec|ok|delete|fprint|fls)/,
  sort: /^--co/,
  fd: /^(-[a-zA-Z]*[xX]|--exec)/,
  rg: /^--(pre|hostname-bin)/,
  date: /^(-[a-zA-Z]*s|--s)/,
  hostname: /^[^-]|^-[a-zA-Z]*[Fb]/,
};

/** `python3.11` → `python`. */
const stem = (name: string) => name.replace(/\.exe$/i, '').replace(/-?\d+(\.\d+)*[a-z]?$/, '');

/** `vim.basic`, `ld-linux-x86-64.so.2`. */
const head = (name: string) => (/^ld(-linux.*)?\.so/.test(name) ? 'ld.so' : (name.split('.')[0] ?? name));

const named = (names: ReadonlySet<string>, name: string) =>
  [name, stem(name), head(name), stem(head(name))].some((each) => names.has(each));

/** Why this program can never be granted; by the name it was called and by the file behind it. */
export function neverGranted({ found, real }: Executable, args: readonly string[]): string | undefined {
  const called = [...new Set([basename(found), basename(real)])];
  for (const { what, names } of tables) {
    // busybox behind a link is what the link names.
    const name = called.find((each, i) => named(names, each) && !(i === 1 && isMultiCall(real)));
    if (name) return `"${name}" is ${what}`;
  }
  const turn = called.map((name) => turns[name]).find((pattern) => pattern && args.some((arg) => pattern.test(arg)));
  return turn ? `"${basename(found)}" is given an argument by which it starts, changes or removes something` : undefined;
}

export const needsArguments = ({ found, real }: Executable): boolean => [found, real].some((path) => named(runners, basename(path)));

/** One file that is many programs: which one depends on the name it is called by. */
export const isMultiCall = (real: string) => /^(busybox|toybox|coreutils|uutils)\b/.test(basename(real));

/** Wrappers that can be looked through: how many of their words come before the inner command. */
export function wrapperWords(words: readonly string[]): number | undefined {
  const [name = '', first = '', second = ''] = words;
  if (/^(?:(?:\/usr)?\/bin\/)?timeout$/.test(name) && /^\d+(\.\d+)?[smhd]?$/.test(first) && words.length > 2) return 2;
  if (!/^(?:(?:\/usr)?\/bin\/)?nice$/.test(name)) return undefined;
  if (first === '-n' && /^-?\d+$/.test(second) && words.length > 3) return 3;
  return words.length > 1 && !first.startsWith('-') ? 1 : undefined;
}

/** What only means something inside a shell. */
export const shellBuiltins =
  list(`. : alias bg bind break builtin caller command compgen complete compopt continue declare dirs disown enable eval exec exit
  export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source suspend times trap type
  typeset ulimit umask unalias unset wait coproc cd`);
