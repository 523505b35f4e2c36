/** What is known of programs by their names. A program that no table names does what its owner trusts it with. */

const list = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/).filter(Boolean));

/** Programs that execute text or other programs: what they run is not what is named. Never granted, alone or with arguments. */
export const executors: readonly { readonly what: string; readonly names: ReadonlySet<string>; readonly family?: RegExp }[] = [
  {
    what: 'a shell',
    names:
      list(`sh bash dash zsh ksh ksh93 lksh mksh oksh fish csh tcsh ash rbash rksh yash posh sash slsh es rc elvish nu xonsh pwsh powershell
      git-shell newgrp login cmd osh ysh oil ksshell agetty`),
  },
  {
    what: 'an interpreter',
    names:
      list(`python pypy ipython bpython ruby irb pry byebug perl perlbug php lua luajit texlua node nodejs deno bun tsx ts-node esno zx coffee js qjs mujs duk d8
      gjs jjs awk gawk mawk nawk goawk frawk original-awk gvpr sed gsed ssed rename prename file-rename raku perl6 rexx regina pike tclsh jimsh wish expect
      guile gosh csi scsh chicken racket gforth ocaml ocamlrun utop sml poly clisp ecl abcl sbcl ghci runghc runhaskell R Rscript littler julia erl
      escript elixir iex swipl gprolog osascript java jshell groovy scala scala-cli kotlin swift clojure clj bb fennel janet hy jrunscript mono wasmtime wasmer
      gdb gdb-multiarch lldb pdb cdb dtrace bpftrace stap m4 dc gnuplot octave maxima scilab sage ghostscript fx
      sqlite3 sqlite litecli sqlcipher duckdb mysql mariadb mycli psql pgcli usql sqlplus mongo mongosh cqlsh ld.so
      ed red ex vi vim vimdiff vimtutor rvim rview gvim gview evim nvim view hx helix kak micro joe jed mg ne pico nano emacs emacsclient xemacs vipw vigr visudo
      less more most pg man info pinfo perldoc pydoc zless bzless xzless lzless zstdless json_pp pygmentize prove cpan lli opt jdb jconsole gdbtui mlr ptpython
      mit-scheme chez amm matlab ginsh tdbtool bconsole jtag scanmem volatility`),
    // `sensible-editor`, `sensible-pager`
    family: /^sensible-/,
  },
  {
    what: 'a wrapper that starts other programs',
    names:
      list(`env sudo sudoedit sudo-rs doas su ksu sg runuser pkexec gosu setpriv runcon xargs nice ionice chrt choom taskset numactl timeout timelimit nohup setsid
      stdbuf unbuffer time multitime strace ltrace valgrind perf rr heaptrack hyperfine ldd cpulimit softlimit chpst setlock pexec logsave aa-exec eatmydata
      ssh sshpass autossh ssh-agent scp sftp rsh rlogin mosh telnet socat nc ncat netcat busybox toybox coreutils parallel sem watch viddy entr nodemon watchexec reflex
      concurrently flock lckdo chroot schroot unshare nsenter systemd-run systemd-nspawn systemd-inhibit at batch crontab script screen tmux byobu zellij dtach abduco
      tmate openvt firejail bwrap proot fakeroot fakechroot faketime rlwrap daemonize daemon start-stop-daemon run-parts run-mailcap see xdg-open xvfb-run
      dbus-run-session dbus-launch docker-compose exec eval command builtin source capsh prlimit setarch linux32 linux64 i386 x86_64 uname26 cgexec proxychains
      proxychains4 torsocks torify tsocks distcc ccache sccache icecc direnv dotenv asdf mise rtx scl genie mpirun mpiexec srun salloc catchsegv gum
      msgexec memusage pg_virtualenv dpkg-architecture not scriptlive sotruss gprofng gp-collect-app systemd-cat systemd-socket-activate systemd-mount ssh-argv0
      op sops chronic ifne pee mispipe pipesz coresched uclampset c8 nyc cross-env coverage claude codex gemini aider grc grcat xdotool tasksh
      gtester ansible-test vipe minicom runscript check_by_ssh check_log sshuttle sshfs psftp iftop k9s top htop btop dosbox`),
    // `fakeroot-tcp`, `valgrind-di-server`, `not-18`
    family: /^(fakeroot|valgrind|not)-/,
  },
  { what: 'a control of the gateway itself', names: list('instar openclaw') },
];

/** They execute what files or arguments say, or write any file they are told: only exact arguments, or a pattern for them, can be granted. */
export const runners = list(`
  git git-lfs hg svn cvs bzr fossil darcs jj tig lazygit gh glab hub
  npm npx pnpm pnpx yarn bunx corepack node-gyp lerna nx turbo gulp grunt webpack rollup esbuild parcel vite vitest jest mocha ava tap karma playwright cypress tsc eslint
  oxlint biome prettier stylelint next nuxt astro ng
  make gmake bmake cmake ctest cpack ninja meson just task scons bazel bazelisk buck buck2 waf cargo rustc rustfmt rustup cross go gofmt gradle gradlew mvn mvnw ant sbt rake
  bundle bundler gem rails rubocop pip pipx uv uvx poetry pdm pipenv conda mamba micromamba hatch rye tox nox pytest black ruff isort flake8 pylint mypy pyright jupyter
  composer phpunit dotnet msbuild nuget mix rebar3 stack cabal ghc dune opam lein boot nim nimble zig crystal dart flutter javac jar kotlinc scalac swiftc
  gcc cc c89 c99 g++ c++ clang clang++ cpp tcc icc nvcc gfortran as nasm yasm ld gold lld ar ranlib objcopy strip cobc bison yacc flex lex protoc ctags cscope global gtags clang-format clang-tidy shfmt
  ansible ansible-playbook ansible-console cdist ansible-galaxy puppet facter knife chef salt terraform tofu terragrunt packer vagrant pulumi
  docker podman buildah nerdctl ctr crictl kubectl oc helm helmfile skopeo kustomize serverless sam cdk lxc lxd incus virsh snap flatpak
  port easy_install eb
  nix nix-shell nix-build nix-env nix-instantiate guix brew apt apt-get aptitude dpkg dpkg-deb yum dnf zypper apk opkg pacman emerge rpm rpmbuild rpmdb rpmquery rpmverify pkg
  update-alternatives apache2ctl certbot fail2ban-client needrestart ldconfig dmsetup dmidecode systemd-resolve
  systemctl service invoke-rc.d journalctl loginctl timedatectl hostnamectl busctl logrotate mount umount insmod modprobe ip iptables nft sysctl openvpn
  wg-quick crash debugfs tcpdump tshark dumpcap wireshark nmap masscan hping3 sqlmap msfconsole aircrack-ng
  tar bsdtar gtar star pax cpio zip unzip 7z 7za 7zr rar unrar arj arc gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 brotli pigz compress uncompress mksquashfs unsquashfs
  rsync rclone restic borg rdiff-backup duplicity unison
  curl wget aria2c http https xh lwp-request lwp-download lynx w3m links elinks lftp ftp ncftp tftp smbclient aws gcloud gsutil az redis-cli clickhouse clickhouse-client mosquitto_sub
  mail mailx mutt neomutt alpine sendmail msmtp gpg gpg2 gpgsm gpgconf openssl ssh-keygen ssh-add ssh-copy-id easyrsa age pass
  cp mv ln install dd tee truncate shred split csplit patch sponge sd rpl ptx gcore diff3 sdiff dos2unix unix2dos uudecode msgfilter tic
  fzf sk peco percol ack cloc rga nnn ranger lf mc vifm ncdu
  pandoc xsltproc xmllint xmlstarlet enscript groff nroff troff eqn pic zsoelim cupsfilter highlight tex latex latexmk pdftex pdflatex luatex lualatex xetex xelatex context dvips makeindex biber asciidoctor
  ffmpeg ffprobe ffplay sox convert magick mogrify composite montage import gs gimp inkscape libreoffice soffice exiftool genisoimage scrot espeak efax rtorrent zathura yelp xpad
  code codium subl atom mosquitto neofetch dstat pidstat xdg-user-dir finger dot qpdf pdftk aspell ispell cowsay cowthink
  gcc-nm gcc-ar gcc-ranlib savelog link gpgtar rpcgen uconv tomlq yt-dlp ug ugrep`);

/** `llvm-objcopy-18`, `git-upload-pack`. */
export const runnerFamily = /^(llvm|git)-/;

/** What an argument makes of a program that is plain without it. Where a program takes abbreviations, they are in the pattern. */
interface Turn {
  readonly names: ReadonlySet<string>;
  /** `starts`: as an executor, never granted. `writes`: as a runner, granted with exact arguments or a pattern. */
  readonly to: 'starts' | 'writes';
  readonly by: RegExp | ((args: readonly string[]) => boolean);
}

export const turns: readonly Turn[] = [
  { names: list('find gfind bfs'), to: 'starts', by: /^-(exec|ok|delete|fprint|fls)/ },
  { names: list('sort gsort'), to: 'starts', by: /^--c[^h]/ },
  { names: list('sort gsort'), to: 'writes', by: /^(-[^-]*o|--o)/ },
  { names: list('fd fdfind'), to: 'starts', by: /^(-[^-]*[xX]|--exec)/ },
  { names: list('rg'), to: 'starts', by: /^--(pre$|pre=|hostname-bin)/ },
  { names: list('bat batcat delta'), to: 'starts', by: /^--pag(er|$|=)/ },
  { names: list('bat batcat'), to: 'writes', by: /^cache$/ },
  { names: list('ag'), to: 'starts', by: /^--pag/ },
  { names: list('ug ugrep'), to: 'starts', by: /^--(filter|pager|view|save-config)/ },
  { names: list('nm objdump size strings'), to: 'starts', by: /^--pl/ },
  { names: list('shuf gshuf iconv tree scc'), to: 'writes', by: /^(-[^-]*o|--o)/ },
  { names: list('tree'), to: 'writes', by: /^-[^-]*R/ },
  { names: list('file'), to: 'writes', by: /^(-[^-]*C|--com)/ },
  { names: list('yq xq'), to: 'writes', by: /^(-[^-]*[is]|--in|--split|--yml-out)/ },
  { names: list('ss'), to: 'writes', by: /^(-[^-]*[DK]|--di|--k)/ },
  { names: list('uniq guniq'), to: 'writes', by: (args) => filesIn(args, 'fsw') > 1 },
  { names: list('xxd'), to: 'writes', by: (args) => filesIn(args, 'clsgonR') > 1 },
  { names: list('dmesg'), to: 'starts', by: /^(-[^-]*[HCD]|--human|--clear)/ },
  { names: list('date'), to: 'starts', by: /^(-[^-]*s|--s)/ },
  { names: list('hostname'), to: 'starts', by: /^[^-]|^-[^-]*[Fb]|^--[fb]/ },
];

/** Arguments that are neither flags nor the values of those short flags: of some filters the second is written. After `--` all are. */
function filesIn(args: readonly string[], valued: string): number {
  let count = 0;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] ?? '';
    if (arg === '--') return count + args.length - i - 1;
    if (arg === '-' || !arg.startsWith('-')) count += 1;
    else if (arg.length === 2 && valued.includes(arg.slice(1))) i += 1;
  }
  return count;
}
