# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion of cprec: `cprec complete` knows what is possible.

_cprec()
{
	local line=${COMP_LINE:0:COMP_POINT} words word kept found

	read -ra words <<<"$line"
	case $line in
	*[[:space:]]) words+=('') ;;
	esac
	word=${words[-1]}
	mapfile -t found < <("${words[0]}" complete -- "${words[@]}" 2>/dev/null)
	COMPREPLY=()
	case ${found[0]-} in
	:program*)
		if declare -F _command_offset >/dev/null; then
			_command_offset "${found[0]#:program }"
		else
			mapfile -t COMPREPLY < <(compgen -f -c -- "$word")
		fi
		;;
	:file)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "${word#*=}")
		;;
	:recording)
		compopt -o filenames
		mapfile -t COMPREPLY < <(
			compgen -f -X '!*.cpr' -- "$word"
			compgen -d -- "$word")
		;;
	*)
		# bash replaces only what follows the last = or :.
		kept=${word%"${word##*[=:]}"}
		COMPREPLY=("${found[@]#"$kept"}")
		case ${found[*]-} in
		*[=:!]) compopt -o nospace ;;
		esac
		;;
	esac
}

complete -F _cprec cprec
