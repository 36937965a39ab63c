# Shared by the scripts of this folder; sourced, not run. Sets root (the repository, without symbolic links) and offers: say, die, doing,
# as_root, package_list, missing_packages, apt_install, need_packages, need_node, find_cuda, newest_recording.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
me=$(basename "$0")

line_begun=false
say() {
    if $line_begun; then printf '\n' >&2; fi
    line_begun=false
    printf '%s: %s\n' "$me" "$*" >&2
}
die() { # exit code, words
    local code=$1
    shift
    say "$*"
    exit "$code"
}

# One line of a step: what is done and, once it is, how long it took. Returns what the command does.
doing() { # words, command …
    local started=$SECONDS code=0 before="$me: $1 … "
    shift
    printf '%s' "$before" >&2
    line_begun=true
    "$@" || code=$?
    $line_begun || printf '%s' "$before" >&2 # something was said meanwhile
    line_begun=false
    if [ $code = 0 ]; then
        printf '%d s\n' $((SECONDS - started)) >&2
    else
        printf 'failed after %d s\n' $((SECONDS - started)) >&2
    fi
    return $code
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die 77 "needs root to run: $* (run it by hand and start again)"
    fi
}

package_list() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$root/deploy/packages/$1.txt"; }

# Those of the named lists (build, test) that are not installed, one a line.
missing_packages() {
    local list package
    command -v dpkg-query >/dev/null || die 69 "this is no Debian or Ubuntu machine: install the packages in deploy/packages by hand"
    for list in "$@"; do
        while read -r package; do
            [[ $(dpkg-query -W -f '${Status};' "$package" 2>/dev/null) == *'install ok installed'* ]] || echo "$package"
        done < <(package_list "$list")
    done
}

quietly() { "$@" >/dev/null; }

# The service of a package that is only wanted for its program (nginx, for the tests) is not started: policy-rc.d is asked by every package.
install_quietly=$(cat <<'EOT'
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
EOT
)

apt_install() { # packages …
    doing "fetching the list of packages" as_root apt-get update -qq || die 69 "apt-get update failed: see its words above"
    doing "installing $*" quietly as_root sh -c "$install_quietly" sh "$@" ||
        die 69 "apt-get install failed: see its words above"
}

# Installs what is missing of the named lists; asks the network only when something is.
need_packages() {
    local text missing
    text=$(missing_packages "$@")
    [ -n "$text" ] || return 0
    mapfile -t missing <<<"$text"
    apt_install "${missing[@]}"
}

has_node() { command -v npm >/dev/null && node -e 'process.exit(process.versions.node.split(".")[0] >= 18 ? 0 : 1)'; }

# node 18 or newer with npm: for the page's chart library and the page's tests
need_node() {
    has_node || apt_install nodejs npm
    has_node || die 69 "node 18 or newer is needed, found $(node --version)"
}

# The toolkit is often installed outside of PATH.
find_cuda() {
    if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
        PATH=/usr/local/cuda/bin:$PATH
        export PATH
    fi
    command -v nvcc >/dev/null
}

# The shipped recording that was made last, by the time in its first line.
newest_recording() {
    local file made newest='' newest_made=''
    for file in "$root"/deploy/recordings/*.jsonl; do
        [ -f "$file" ] || continue
        made=$(head -n 1 "$file" | sed -n 's/.*"recorded_at":"\([^"]*\)".*/\1/p')
        [[ $made > $newest_made ]] && newest=$file newest_made=$made
    done
    printf '%s' "$newest"
}
