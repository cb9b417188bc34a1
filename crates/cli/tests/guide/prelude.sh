# What comes before the commands of a page. GUIDE is the folder for what they write, WORK the one in which they run.
set -E
exec 8>&1 9>&2
cd "$WORK"
__failed() {
    local status=$? line=$1
    # Who asks for the status of an answer looks at it.
    case $status$2 in 22*%{http_code}*) __asked=1; return ;; esac
    printf '%s\t%s\t%s\n' "$line" "$status" "$2" > "$GUIDE/failure"
    exit 1
}
# A block begins: its line, and the code with which it is to end.
__begin() {
    __expects=$2 __asked=
    exec > "$GUIDE/block.$1" 2>&1
    if [ "$2" = 0 ]; then trap '__failed "$LINENO" "$BASH_COMMAND"' ERR; else trap - ERR; fi
}
__end() {
    # What runs on in the background may write more.
    cp "$GUIDE/block.$1" "$GUIDE/written.$1"
    if [ "$2$__asked" != "$__expects" ] && [ "$2$__asked" != "${__expects}1" ] && [ "$2$__asked" != 221 ]; then
        printf '%s\t%s\t%s\n' "$1" "$2" "the last command (exits=$__expects)" > "$GUIDE/failure"
        exit 1
    fi
    trap - ERR
    exec 1>&8 2>&9
}
# Waits until what was just started in the background listens: on a port, or a socket.
__ready() {
    local tries
    for tries in $(seq 400); do
        case $1 in
            unix:*) [ -S "${1#unix:}" ] && return ;;
            *) (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null && return ;;
        esac
        kill -0 $! 2> /dev/null || break
        sleep 0.05
    done
    false
}
# A job that has ended, and of which bash has told nobody, keeps its number for a while: `kill %1` is then for that one, and says nothing.
wait() {
    builtin wait "$@"
    jobs > /dev/null
}
trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
