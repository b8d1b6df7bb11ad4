/**
 * The script for bash, from version 3.2 on: it needs no other package, offers files where a file is meant, evaluates nothing of
 * what was typed, and can be sourced twice.
 */
export const BASH_SCRIPT = `# bash completion for lade

_lade() {
    local IFS=$'\\n' words=() word reply directive line
    # Bash takes --flag=value apart at the equals sign.
    for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
        [[ $word == "=" ]] || words+=("$word")
    done
    [[ \${COMP_WORDS[COMP_CWORD]} == "=" ]] && words+=("")
    reply=$(lade complete -- "\${words[@]}" 2>/dev/null) || return
    directive=\${reply##*:}
    COMPREPLY=()
    while read -r line; do
        line=\${line%%$'\\t'*}
        [[ -n $line && $line != :* ]] && COMPREPLY+=("$line")
    done <<<"$reply"
    # Four says that no files are meant.
    if [[ $directive != 4 && \${#COMPREPLY[@]} -eq 0 ]]; then
        compopt -o default 2>/dev/null
    fi
}

if type compopt >/dev/null 2>&1; then
    complete -F _lade lade
else
    complete -o default -F _lade lade
fi
`
