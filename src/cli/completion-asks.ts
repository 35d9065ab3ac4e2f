/** The parts of the completion scripts that ask `cairn __complete`, which says `words` or `paths`, then a value a line. */

/** A second tab lists ids with what they are. Paths are quoted by readline itself, other words here. */
export const BASH_ASKS = `_cairn_ask() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" form="" value note plain shown word
  local -a given=()
  case "$cur" in -*) return 1 ;; esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do given+=("\${word//[\\\\\\"\\']/}"); done
  plain="\${cur//[\\\\\\"\\']/}"
  COMPREPLY=()
  while IFS=$'\\t' read -r value note; do
    if [ -z "$form" ]; then form="$value"; continue; fi
    case "$value" in "$plain"*) ;; *) continue ;; esac
    shown="$value"
    case "$form$cur" in paths*|words[\\"\\']*) ;; *) printf -v shown '%q' "$value" ;; esac
    case "$COMP_TYPE$note" in 63?*|33?*) shown="$value  ($note)" ;; esac
    COMPREPLY+=("$shown")
  done < <(command cairn __complete "\${given[@]}" "$plain" 2>/dev/null </dev/null)
  [ "$form" = paths ] || compopt +o filenames 2>/dev/null
  case "\${COMPREPLY[0]-}" in */) compopt -o nospace 2>/dev/null ;; esac
  [ \${#COMPREPLY[@]} -gt 0 ]
}`;

export const ZSH_ASKS = `_cairn_ask() {
  local line tab=$'\\t'
  local -a lines values shown folders
  case "$PREFIX" in -*) return 1 ;; esac
  lines=("\${(@f)$(command cairn __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    case "$line" in
      */) folders+=("$line") ;;
      *) values+=("\${line%%$tab*}"); shown+=("\${line//$tab/  -- }") ;;
    esac
  done
  local found=1
  [ \${#folders} -eq 0 ] || { compadd -S '' -a folders && found=0; }
  [ \${#values} -eq 0 ] || { compadd -l -d shown -a values && found=0; }
  return $found
}`;

export const FISH_ASKS = `function __cairn_ask
  set -l token (commandline -ct | string unescape)
  string match -q -- '-*' $token; and return 1
  set -l offers (command cairn __complete $argv "$token" 2>/dev/null </dev/null)
  string match -rq -- '^'(string escape --style=regex -- "$token") $offers[2..]; or return 1
  printf '%s\\n' $offers[2..]
end`;
