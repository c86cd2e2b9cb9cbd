# Made by `deia install`; a host's hook starts here. Whatever happened to deia, the host goes on: this exits with 0, and
# says once what is wrong. (Where a hold is exit code 2, deia's own 2 is passed on.)
# starts: @starts@
shift
deia_file=@hook@
deia_made=@made@
case $1 in status-line) deia_file=@status@ deia_made= ;; esac
deia_said=@said@-$1
for deia_python in @pythons@; do
  if [ -x "$deia_python" ]; then break; fi
done
if [ ! -x "$deia_python" ]; then
  deia_why=@no_python@
elif [ ! -r "$deia_file" ]; then
  deia_why=@no_program@
else
  deia_code=1 # how Python ends that cannot read what another Python made
  if [ "$deia_made" -nt "$deia_file" ]; then
    "$deia_python" -I -S -X launched "$deia_made" "$@"
    deia_code=$?
  fi
  if [ "$deia_code" = 1 ]; then
    "$deia_python" -I -S -X launched "$deia_file" "$@"
    deia_code=$?
  fi
  case $deia_code,$1 in
    0,* | @holds@)
      if [ -e "$deia_said" ]; then rm -f "$deia_said"; fi
      exit "$deia_code"
      ;;
  esac
  deia_why=@no_start@
fi
(set -C; : > "$deia_said") 2> /dev/null || exit 0
case $1 in
  status-line) ;;
  @speaking@
  *) printf '%s\n' "$deia_why" >&2 ;;
esac
exit 0
