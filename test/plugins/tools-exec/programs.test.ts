import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCommand } from '../../../plugins/tools-exec/parse.ts';
import { machine } from './machine.ts';

/** What an owner gets who lists the program by its name alone, and one who lists it with exactly these arguments. */
type Row = readonly [command: string, byName: 'allow' | 'ask', byArguments: 'allow' | 'ask'];

/** Nobody can list these: the program, or what an argument makes of it, runs whatever it is given. */
const never = `
  fdfind -x sh evil|fdfind -Hx sh evil|fd --exec sh evil|fd --exec-batch=sh|bat --pager='sh -c id' f|batcat --paging=always --pager 'sh -c id' f|delta --pager=sh
  ag --pager=sh x|ag --pag=sh x|rg --pre=sh x|rg --pre sh x|rg --hostname-bin=sh x|ugrep --filter='*:sh evil' x|ug --pager=sh x|sort --compress-program=sh f|sort --comp=sh f
  nm --plugin=./evil.so a|find . -exec sh evil ';'|find . -execdir sh evil ';'|find . -ok sh ';'|find . -delete|find . -fprintf f x|find . -fls f
  awk 'BEGIN{system("id")}'|mawk 1|gawk 1|nawk 1|sed -n w|sed 1e|perl -e 1|ruby -e 1|php -r 1|lua5.4 -e 1|python3.12 x|node18 x|Rscript x|tclsh x|expect x|rename s/a/b/ f
  gdb -x evil|gdb-multiarch x|sqlite3 db .shell|psql -c '\\!'|mysql -e '\\!'|duckdb x|m4 x|dc x|gnuplot x|vim -c ':!id'|vim.tiny x|ed f|ex f|nano f|less f|more f|man x|info x
  xargs sh|parallel sh|watch id|script -c id|env -S id|sudo id|doas id|nohup sh|setsid sh|stdbuf -o0 sh|strace sh|ltrace sh|perf stat sh|valgrind sh|hyperfine id|ldd ./evil
  ssh -o ProxyCommand=id h|scp -S sh a b|sftp -S sh h|busybox sh|toybox sh|unshare sh|chroot . sh|nsenter sh|systemd-run id|at now|crontab f|screen sh|tmux new id|flock f sh
  entr sh|nodemon x|ccache ./evil|distcc ./evil|cpulimit -- sh|choom -n 0 sh|numactl sh|direnv exec . sh|ssh-agent sh|sshpass -p x sh|xdg-open f|gum spin -- sh|instar chat x
  bash x|dash x|zsh x|fish x|rbash x|pwsh x|ld-linux-x86-64.so.2 ./evil|socat x y|nc -e sh h|run-parts .|start-stop-daemon --exec sh
  fdfind -0x sh evil|fd -0X sh|date -us 1|hostname -F f|json_pp -f eval|pygmentize -x -l f.py f|pydoc3.12 x|prove -e sh|msgexec sh|memusage sh|pg_virtualenv sh|dpkg-architecture -c sh|cpan x
  fakeroot-tcp sh|fakeroot-sysv sh|not-18 sh|perldoc x|scriptlive f|sotruss sh|gprofng x|jdb x|jconsole|lli f.bc|lli-18 f|opt -load f|systemd-cat sh|systemd-socket-activate sh|systemd-mount x
  gdbtui x|gp-collect-app x|ssh-argv0 h|valgrind-di-server|sensible-editor f|sensible-pager f|zless f|bzless f|xzless f|lzless f|zstdless f|mlr put f|op run -- sh|sops exec-env f sh|chronic sh
  ifne sh|pee sh|mispipe sh sh|pipesz sh|coresched sh|uclampset sh|c8 sh|nyc sh|cross-env sh|coverage run f|claude -p x|codex exec x|gemini -p x|aider f`;

/** Only with exactly these arguments, or a pattern for them: they run programs by files or flags, or write any file. */
const withArguments = `
  split --filter='sh ./evil' f|install -s --strip-program=./evil a b|sort -o /x f|sort -uo/x f|sort --output=/x f|sort --o /x f|shuf -o f x|shuf --output=f x|uniq a b|uniq -c a b
  xxd -r a b|iconv -o f x|tree -o f|file -C -m f|yq -i .a f|ss -D f|fzf --preview 'sh evil'|fzf --bind 'start:execute(id)'|ack --pager=sh x|cloc --extract-with=sh x
  git -c core.pager=id log|git log --upload-pack=sh|git --exec-path=. x|hg --config 'alias.x=!id' x|svn x|tar --to-command=sh -xf a|tar --checkpoint-action=exec=sh -cf a b|tar -I sh -xf a
  zip -T -TT sh a b|unzip a.zip|7z x a|cpio -i|rsync -e sh a b:|make x|gmake x|cmake -P f|ninja|just x|npm run x|npx x|pnpm x|yarn x|pip install .|pip3.12 install .|uv run x|cargo run
  go run .|docker run x|podman run x|kubectl exec p -- sh|helm x|terraform apply|ansible all -a id|vagrant up|gcc -wrapper sh x|c++ x|clang++ x|clang-18 x|x86_64-linux-gnu-gcc-12 x|as -o f x
  ld -plugin ./e a|cc x|rustc x|javac X|tsc|eslint -c f|prettier --write .|jest|pytest|mypy .|curl -o f u|curl -K f|wget --use-askpass=./e u|wget -O f u|aria2c --on-download-complete=./e u
  dd if=a of=b|tee f|cp a b|mv a b|ln a b|truncate -s 0 f|patch -p1|shred f|csplit f 1|gzip f|gunzip f.gz|xz f|zstd -o f x|openssl enc -out f|gpg -o f x|ssh-keygen -D ./e
  tcpdump -z sh|tshark -X lua_script:f|nmap --script f|ip netns exec x sh|journalctl --cursor-file f|systemctl x|dpkg -i f|apt-get install x|rpm --eval '%(id)'|mount a b
  ffmpeg -i a b|convert a b|magick a b|gs f|exiftool -if 'system(1)' f|pandoc --filter=./e x|xelatex --shell-escape x|pdflatex x|latexmk x|xsltproc a b|xmllint --output f x|cowsay -f ./e x
  lftp -c x|w3m u|lynx u|redis-cli eval 1|mail x|sdiff --diff-program=./e a b|ctags --options=f|gh alias set x|aws x|conda run x|bazel run x|mvn x|gradle x|rake x|bundle exec x
  uniq -- a -b|uniq -c -- a -b|uniq a -- -b|xxd -r -- a -b|xxd -c -s a b|gcc-nm a|gcc-ar-12 x a|llvm-objcopy a b|llvm-ar-18 x a|llvm-nm a|savelog f|link a b|gpgtar x|rpcgen f|uconv -o f x|tomlq -i . f
  yt-dlp --exec sh u|ugrep x|git-upload-pack x`;

/** What a name alone lets through still. */
const plain = `
  ls -la|cat f|head -n 5 f|grep -rn x .|rg -n TODO|rg --pretty x|fdfind -e ts x|fd --exclude x y|bat --paging=never f|batcat -p f|ag x|sort -k 2 -t , f|sort --check f|sort -rn f|shuf -n 3 f
  uniq -c f|uniq -f 1 f|uniq -- -b|xxd -s -5 f|c++filt x|xxd f|xxd -l 16 -c 8 f|tree -L 2|file f|find . -name x|jq .a f|yq .a f|nm f|objdump -d f|diff a b|date +%s|ss -tlnp|du -sh .|wc -l f|stat f|touch f|mkdir d
  ps aux|id -u|uname -a|sha256sum f|base64 f|md5sum f|comm a b|paste a b|zcat f|strings f|tokei|shellcheck f|own-tool --do anything`;

const rowsOf = (lines: string, byName: Row[1], byArguments: Row[2]): readonly Row[] =>
  lines.split(/[|\n]/).flatMap((line) => (line.trim() ? [[line.trim(), byName, byArguments] as const] : []));
const rows: readonly Row[] = [...rowsOf(never, 'ask', 'ask'), ...rowsOf(withArguments, 'ask', 'allow'), ...rowsOf(plain, 'allow', 'allow')];

const wordsOf = async (command: string) => (await parseCommand(command)).steps?.[0]?.commands[0]?.words ?? [];

let box: Awaited<ReturnType<typeof machine>>;
beforeAll(async () => {
  const names = await Promise.all(rows.map(async ([command]) => (await wordsOf(command))[0] ?? ''));
  box = await machine([...new Set(names)]);
});
afterAll(() => box[Symbol.asyncDispose]());

test.each(rows)('SPEC 4.2: %j, listed by its name alone: %s; with exactly these arguments: %s', async (command, byName, byArguments) => {
  const [pattern = '', ...args] = await wordsOf(command);
  expect(pattern).not.toBe('');
  const kind = async (entry: object) => (await box.test(command, { entries: [{ pattern, place: 'p', ...entry }] })).kind;
  expect([await kind({}), await kind({ args })]).toEqual([byName, byArguments]);
});
