import { expect, test } from 'vitest';
import { mayWrite } from '../../../plugins/tools-exec/kinds.ts';

/** Programs by which a person gets out of a restricted shell, as public collections of such tricks name them, and what developers run that runs others. */
const escapes = `
  agetty alpine ansible-playbook ansible-test apache2ctl apt apt-get aptitude ar aria2c ash aspell at awk aws batch bconsole
  bpftrace bridge bundle bundler busctl busybox byebug c89 c99 cabal capsh cdist certbot check_by_ssh check_log choom chroot cmp
  cobc composer cowsay cowthink cpan cpio cpulimit crash crontab csh csplit csvtool ctr cupsfilter curl dash dc dd dialog distcc
  dmesg dmidecode dmsetup dnf docker dos2unix dosbox dotnet dpkg dstat dvips easy_install eb ed efax elvish emacs enscript env eqn
  espeak ex exiftool expect facter fail2ban-client find finger fish flock fping ftp gawk gcc gcloud gcore gdb gem genie
  genisoimage ghc ghci gimp ginsh git grc gtester hping3 iftop install ionice irb ispell java jjs joe journalctl jrunscript jtag
  julia knife ksh ksshell ksu kubectl latex ld.so ldconfig less lftp ln loginctl logrotate logsave ltrace lua lualatex luatex
  lwp-download mail make man mawk minicom more mosquitto mount msfconsole msgfilter multitime mutt mv mysql nano nasm nawk nc ncdu
  ncftp needrestart neofetch nft nice nmap node nohup npm npx nroff nsenter octave openssl openvpn openvt opkg pandoc pax pdb
  pdflatex pdftex perf perl perlbug pexec pg php pic pico pidstat pip pip3 pkexec pkg posh pry psftp psql puppet pwsh python
  python3 rake rc red restic rlogin rlwrap rpm rpmdb rpmquery rpmverify rsync rtorrent ruby run-mailcap run-parts runscript rview
  rvim sash scanmem scp screen script scrot sed service setarch setlock sftp sg slsh smbclient snap socat split sqlite3 sqlmap ssh
  ssh-agent ssh-keygen sshfs sshpass sshuttle start-stop-daemon stdbuf strace su sudo systemctl systemd-resolve systemd-run tar
  task taskset tasksh tclsh tcpdump tdbtool telnet terraform tex tftp time timedatectl timeout tmate tmux top torify torsocks
  troff tsc tshark unshare unzip vagrant valgrind vi view vigr vim vimdiff vipw virsh volatility w3m watch wget whiptail wireshark
  wish xargs xdg-user-dir xdotool xelatex xetex xpad yarn yash yelp yum zathura zip zsh zsoelim zypper deno bun pnpm uv uvx pipx
  poetry cargo go rustc gradle mvn ant ninja cmake meson bazel just tox nox pytest jest vitest mocha tsx ts-node esbuild rollup
  vite webpack gulp grunt parallel entr fzf fd rg ag ack ts sponge vipe pee ifne chronic direnv asdf mise nix nix-shell guix brew
  port podman nerdctl buildah skopeo helm helmfile k9s ansible pulumi packer serverless sam cdk gh glab hub code codium subl atom
  emacsclient gvim nvim hx kak micro helix jupyter ipython ptpython bpython R Rscript matlab sage maxima gnuplot swipl stack ocaml
  utop sbcl clisp guile racket mit-scheme chez csi erl elixir iex mix scala kotlin kotlinc groovy clojure clj lein sbt amm crystal
  nim zig dart flutter swift tcsh oksh mksh lksh rbash nu xonsh oil osh ysh`;

/** They read files at most, or do more only with an argument that is judged where it is given. */
const harmlessAlone = 'ag bridge cmp csvtool date dialog dmesg fd find fping rg sort split ts whiptail'.split(' ');

test('SPEC 4.2: none of the known ways out of a restricted shell is taken for a plain program', () => {
  const names = escapes.split(/\s+/).filter((name) => name !== '' && !harmlessAlone.includes(name));
  const at = (name: string) => ({ found: `/usr/bin/${name}`, real: `/usr/bin/${name}`, isByName: true });
  expect(names.filter((name) => !mayWrite(at(name), []))).toEqual([]);
});
