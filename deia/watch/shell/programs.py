"""Tables of what the watcher knows about the command lines of common programs. Nothing is decided here.

They list the programs that run other programs, the options that take a value, and the arguments that are only text.
Options are written as people write them, in one string, because a string costs nothing to load.
"""

from __future__ import annotations

# Programs that run the rest of their words: the options that take a value, and how many words come before the program
# that is run (the duration of timeout, the lock file of flock).
PREFIXES = {
    "sudo": (("-u -g -h -p -C -T -r -t -D -R -U --user --group --host --prompt --chdir --role --type --other-user "
             "--close-from --command-timeout --chroot"), 0),
    "doas": ("-u -C", 0),
    "pkexec": ("--user -u", 0),
    "env": ("-u --unset -C --chdir -P -a --argv0", 0),
    "cross-env": ("", 0),
    "timeout": ("-s --signal -k --kill-after", 1),
    "gtimeout": ("-s --signal -k --kill-after", 1),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c --class -n --classdata -p --pid", 0),
    "chrt": ("-T -P -D", 1),
    "taskset": ("", 1),
    "nohup": ("", 0),
    "time": ("-f --format -o --output", 0),
    "gtime": ("-f --format -o --output", 0),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "setsid": ("", 0),
    "exec": ("-a", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "noglob": ("", 0),
    "chronic": ("", 0),
    "caffeinate": ("-t -w", 0),
    "unbuffer": ("", 0),
    "watch": ("-n --interval -q --equexit", 0),
    "strace": ("-e -o -p -s -u -E -a -b -I -O -P -S -X", 0),
    "ltrace": ("-e -o -p -s -u -a -l -n", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
    "chroot": ("", 1),
    "flock": ("-w --timeout -E --conflict-exit-code", 1),
    "gosu": ("", 1),
    "su-exec": ("", 1),
    "runuser": ("-u --user -g --group", 0),
    "xvfb-run": ("-n -e -f -p -s", 0),
    "proxychains": ("-f", 0),
    "torsocks": ("", 0),
    "systemd-run": ("-p --property -u --unit -E --setenv --slice -t", 0),
    "systemd-inhibit": ("--what --who --why --mode", 0),
    "entr": ("", 0),
    "wsl": ("-d --distribution -u --user --cd", 0),
    "rtk": ("", 0),
    "nsenter": ("-t --target -S --setuid -G --setgid", 0),
    "unshare": ("-S --setuid -G --setgid -R --root -w --wd --map-user --map-group --propagation", 0),
    "setpriv": ("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits", 0),
    "flatpak-spawn": ("", 0),
    "numactl": ("-m -N -C -i --membind --cpunodebind --physcpubind --interleave", 0),
    "firejail": ("", 0),
    "fakeroot": ("", 0),
    "eatmydata": ("", 0),
    "dumb-init": ("", 0),
    "tini": ("", 0),
    "sshpass": ("-p -f -d -P", 0),
    "faketime": ("", 1),
    "dbus-run-session": ("", 0),
    "ssh-agent": ("-t -a", 0),
    "screen": ("-S -t -s -c -e -h -p", 0),
    "proot": ("-r -b -w -R -S", 0),
    "chpst": ("-u -U -b -/ -e -l -L -m -d -o -p -f -c -r -t -n", 0),
    "setuidgid": ("", 1),
    "envuidgid": ("", 1),
    "s6-setuidgid": ("", 1),
    "envdir": ("", 1),
    "s6-envdir": ("", 1),
    "env-cmd": ("-f --file -e --environments", 0),
    "watchexec": ("-e --exts -w --watch -f --filter -i --ignore -d --debounce", 0),
}  # fmt: skip

# Programs with a sub-command that runs the rest. GLOBALS: options with a value before the sub-command. RUNNERS: options
# with a value after it, and how many words come before the program that is run.
DOCKER = (
    "-v --volume -e --env -p --publish --name -w --workdir -u --user --network --net --entrypoint --mount -l --label "
    "-m --memory --cpus --env-file --add-host --platform --restart -h --hostname --gpus --shm-size --ulimit --cap-add "
    "--cap-drop --device --dns --ip --log-driver --log-opt --pull --runtime --security-opt --tmpfs --volumes-from "
    "--link --expose --pid --ipc --userns --cidfile --detach-keys --index -a --attach"
)
GLOBALS = {
    "docker": "-H --host -c --context --config -l --log-level",
    "podman": "--connection --url --root --log-level",
    "nerdctl": "-n --namespace -H --host",
    "docker compose": "-f --file -p --project-name --profile --env-file --project-directory",
    "docker-compose": "-f --file -p --project-name --profile --env-file --project-directory",
    "kubectl": "-n --namespace --context --kubeconfig --cluster --user -s --server",
    "oc": "-n --namespace --context --kubeconfig",
    "uv": "--directory --project --color",
    "poetry": "-C --directory -P --project",
    "pipenv": "",
    "pdm": "-p --project",
    "hatch": "-e --env",
    "rye": "",
    "conda": "",
    "mamba": "",
    "pnpm": "-C --dir --filter -F",
    "yarn": "--cwd",
    "bundle": "",
    "npm": "--prefix -w --workspace",
    "bun": "--cwd",
    "mise": "-C --cd",
    "direnv": "",
    "op": "",
    "doppler": "",
    "aws-vault": "",
    "asdf": "",
    "dotenv": "-e -f -c -v -p",
    "dotenvx": "",
    "pipx": "",
    "machinectl": "-M --machine",
    "lxc": "",
    "incus": "",
    "adb": "-s -H -P -L",
    "multipass": "",
    "limactl": "",
    "distrobox": "",
    "apptainer": "",
    "singularity": "",
    "crictl": "",
    "heroku": "",
    "railway": "",
    "infisical": "",
    "chamber": "",
    "devbox": "",
    "pixi": "",
    "lerna": "",
    "git bisect": "",
    "git": "-C -c --git-dir --work-tree --namespace",
}
RUNNERS = {
    "docker exec": (DOCKER, 1),
    "docker run": (DOCKER, 1),
    "docker compose exec": (DOCKER, 1),
    "docker compose run": (DOCKER, 1),
    "kubectl exec": ("-c --container -n --namespace --context --pod-running-timeout -f --filename", 1),
    "uv run": (("--with --with-editable --with-requirements --python -p --package --extra --group --only-group "
               "--directory --project --env-file --index --index-url --no-group --isolated-dir"), 0),
    "uv tool run": ("--with --from --python -p", 0),
    "poetry run": ("", 0),
    "pipenv run": ("", 0),
    "pdm run": ("-p --project", 0),
    "hatch run": ("", 0),
    "rye run": ("", 0),
    "conda run": ("-n --name -p --prefix --cwd", 0),
    "mamba run": ("-n --name -p --prefix --cwd", 0),
    "pnpm exec": ("", 0),
    "pnpm dlx": ("--package", 0),
    "yarn exec": ("", 0),
    "yarn dlx": ("-p --package", 0),
    "bundle exec": ("--gemfile", 0),
    "npm exec": ("-p --package -w --workspace", 0),
    "bun x": ("-p --package", 0),
    "yarn run": ("", 0),
    "yarn workspace": ("", 1),
    "bun run": ("--cwd --env-file", 0),
    "asdf exec": ("", 0),
    "mise exec": ("", 0),
    "direnv exec": ("", 1),
    "op run": ("--env-file", 0),
    "doppler run": ("-p --project -c --config", 0),
    "aws-vault exec": ("-d --duration", 1),
    "dotenv run": ("", 0),
    "dotenvx run": ("-f --env-file -fk", 0),
    "pipx run": ("--spec", 0),
    "git bisect run": ("", 0),
    "kubectl run": ("--image -n --namespace --overrides -l --labels --env --restart", 1),
    "kubectl debug": ("--image -n --namespace --target --profile -c --container", 1),
    "machinectl shell": ("-E --setenv --uid", 1),
    "lxc exec": ("--env --user --group --cwd", 1),
    "incus exec": ("--env --user --group --cwd", 1),
    "adb shell": ("", 0),
    "multipass exec": ("-d --working-directory", 1),
    "limactl shell": ("--workdir --shell", 1),
    "distrobox enter": ("-n --name", 1),
    "apptainer exec": ("-B --bind -H --home --pwd --env", 1),
    "singularity exec": ("-B --bind -H --home --pwd --env", 1),
    "crictl exec": ("", 1),
    "heroku run": ("-a --app -s --size --type", 0),
    "railway run": ("-s --service -e --environment", 0),
    "infisical run": ("--env --path --projectId", 0),
    "chamber exec": ("", 1),
    "devbox run": ("-c --config", 0),
    "pixi run": ("-e --environment", 0),
    "lerna exec": ("--scope --ignore --concurrency", 0),
}  # fmt: skip
SAME_AS = {"podman": "docker", "nerdctl": "docker", "docker-compose": "docker compose", "oc": "kubectl"}
# Runners whose first word is a program of the project unless it is one of their own commands, which are listed here.
OWN = {
    "yarn": frozenset(
        "access add audit autoclean bin cache check config constraints create dedupe dlx exec explain generate-"
        " lock-entry global help import info init install licenses link list login logout npm outdated owner pack"
        " patch patch-commit plugin policies prune publish rebuild remove run search self-update set stage tag team"
        " unlink unplug up upgrade upgrade-interactive version versions why workspace workspaces".split()
    ),
    "pnpm": frozenset(
        "add approve-builds audit bin cache cat-file cat-index config create dedupe deploy dlx doctor env exec fetch"
        " find-hash get help i ignored-builds import in info init install install-test it la licenses link list ll ln"
        " login logout ls multi outdated owner pack patch patch-commit patch-remove prune publish rb rebuild recursive"
        " remove rm root run run-script se search self-update server set setup start stop store t tag team test tst"
        " un uni uninstall unlink unpublish up update upgrade version view why x".split()
    ),
    "bun": frozenset(
        "a add audit build c completions create discord exec feedback help i info init install link list outdated"
        " patch pm publish remove repl rm run test unlink update upgrade why x".split()
    ),
    "dotenv": frozenset(("get", "list", "run", "set", "unset")),
}  # fmt: skip
# Short names for programs that are common enough to be taken for them.
SHORT_NAMES = {"k": ("kubectl",), "tf": ("terraform",), "dc": ("docker", "compose")}
NESTED = frozenset(("docker compose", "uv tool", "git bisect"))
FETCHERS = {
    "npx": "-p --package -w --workspace",
    "bunx": "-p --package",
    "pnpx": "--package",
    "uvx": "--with --from --python -p",
}
VERSIONED = frozenset(("npx", "bunx", "pnpx", "uvx", "pnpm dlx", "yarn dlx", "npm exec", "bun x", "pipx run"))

# Options whose value is a script for a shell.
SCRIPT_OPTIONS = {
    "su": "-c --command --session-command",
    "sg": "-c",
    "hyperfine": "-p --prepare -c --cleanup -s --setup",
    "runuser": "-c --command",
    "script": "-c --command",
    "flock": "-c --command",
    "nix-shell": "--run --command",
    "vagrant": "-c --command",
    "gcloud": "--command",
    "fly": "-C --command",
    "flyctl": "-C --command",
    "nodemon": "-x --exec",
    "git": "-x --exec --tree-filter --index-filter --msg-filter --env-filter",
    "npm": "-c --call",
    "npx": "-c --call",
}
SSH_OPTIONS = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w"
XARGS_OPTIONS = (
    "-I -a --arg-file -d --delimiter -E -L --max-lines -n --max-args -P --max-procs -s --max-chars -J -R -S "
    "--process-slot-var"
)
PARALLEL_OPTIONS = (
    "-j --jobs -n --max-args -N -a --arg-file -d --delimiter -S --sshlogin -I --colsep -C --joblog --results --tmpdir "
    "--timeout --delay --retries --workdir --wd --env --halt --load --memfree -L --block"
)
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh", "rbash", "$SHELL", "${SHELL}"))
FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"))
EDITORS = frozenset(("vi", "vim", "nvim", "view", "vimdiff", "gvim", "ex"))
# Programs each of whose words is a line for a shell, with the options that take a value.
LINES = {
    "concurrently": "-n --names -c --prefix-colors -k",
    "hyperfine": "-w -r -m -M -p -c -s -n --warmup --runs --prepare --cleanup --setup",
}
# Wrappers that are not listed themselves if what they run is found; every other wrapper is listed too.
TRANSPARENT = frozenset(PREFIXES) | SHELLS | frozenset(
    ("eval", "trap", "su", "xargs", "parallel", "script", "nix-shell", "cmd", "powershell", "pwsh", "at", "batch")
)  # fmt: skip

# Programs that run code from the command line: the options before the code, and the letters that may be joined before
# the letter of that option.
CODE_OPTIONS = {
    "python": ("-c", "bBdEiIOqsSuvx"),
    "pypy": ("-c", "bBdEiIOqsSuvx"),
    "py": ("-c", "bBdEiIOqsSuvx"),
    "node": ("-e -p -pe --eval --print", ""),
    "nodejs": ("-e -p -pe --eval --print", ""),
    "bun": ("-e --eval", ""),
    "deno": ("eval", ""),
    "tsx": ("-e --eval", ""),
    "ruby": ("-e", "wnplasvW"),
    "perl": ("-e -E", "wnplasiTtWX0123456789"),
    "php": ("-r", ""),
    "lua": ("-e", ""),
    "osascript": ("-e", ""),
}
AWKS = frozenset(("awk", "gawk", "mawk", "nawk", "original-awk"))

# Programs all of whose arguments are text.
TEXT_PROGRAMS = frozenset((
    "echo", "printf", "print", "logger", "say", "notify-send", "figlet", "cowsay", "true", ":", "[", "[[", "test",
    "expr", "write-host", "write-output", "write-error", "write-warning", "write-verbose", "write-debug",
    "write-information", "rem",
))  # fmt: skip
# Programs whose first plain argument is a pattern or their own script, unless an option brings it: the options with a
# value, those of them that bring the pattern, and those whose value is text.
PATTERN_PROGRAMS = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "ggrep", "git grep"), (
        ("-A -B -C -m -D -d -e -f --regexp --file --include --exclude --exclude-dir --color --context --after-context "
        "--before-context --max-count"), "-e --regexp -f --file", "-e --regexp")),
    **dict.fromkeys(("rg", "ripgrep", "ag", "ack", "ugrep"), (
        ("-A -B -C -m -e -f -g -t -T -j -M -r -E -d --regexp --file --glob --iglob --type --type-not --max-count "
        "--context --replace --max-depth --sort --sortr --threads --colors --pre"), "-e --regexp -f --file",
        "-e --regexp -r --replace")),
    **dict.fromkeys(("sed", "gsed"), ("-e -f -l --expression --file --line-length",
        "-e --expression -f --file", "-e --expression")),
    **dict.fromkeys(AWKS, ("-F -v -f -i --field-separator --assign --file --include", "-f --file", "-v --assign")),
    **dict.fromkeys(("jq", "yq", "gojq", "jaq"), ("--indent -f --from-file --tab -L", "-f --from-file", "")),
    "select-string": ("-path -pattern -literalpath -include -exclude -context -encoding", "-pattern", "-pattern"),
    "findstr": ("", "", ""),
}  # fmt: skip

# Options whose value is text, by program or by program and sub-command.
TEXT_OPTIONS = {
    "git commit": "-m --message",
    "git tag": "-m --message",
    "git stash": "-m --message",
    "git merge": "-m --message",
    "git notes": "-m --message",
    "git revert": "-m --message",
    "git log": "--grep --author -S -G --format --pretty",
    "git show": "--format --pretty",
    "gh pr": "-b --body -t --title --subject -c --comment --search -S",
    "gh issue": "-b --body -t --title -c --comment --search -S",
    "gh release": "-n --notes -t --title",
    "gh repo": "-d --description",
    "gh gist": "-d --desc",
    "gh api": "-f --raw-field -F --field -q --jq",
    "gh search": "",
    "glab mr": "-d --description -t --title -m --message",
    "glab issue": "-d --description -t --title -m --message",
    "hg commit": "-m --message",
    "svn commit": "-m --message",
    "jj commit": "-m --message",
    "jj describe": "-m --message",
    "curl": "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form -H --header -A "
    "--user-agent -w --write-out",
    "wget": "--post-data --body-data --header --user-agent",
    "http": "",
    "find": "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -printf -fprintf -newer -user "
    "-group -gid -uid -inum -samefile -perm -size -type",
    "docker commit": "-m --message",
    "alembic revision": "-m --message",
}
