# Completion of the command tsr for fish.

complete -c tsr -f
complete -c tsr -n __fish_use_subcommand -a ops -d 'list the ops, or tell all about some'
complete -c tsr -n __fish_use_subcommand -a selftest -d 'check the library on this machine'
complete -c tsr -n __fish_use_subcommand -a help -d 'tell about a command'
complete -c tsr -n __fish_use_subcommand -l version -d 'print the versions'
complete -c tsr -l help -d 'tell about tsr, or about a command'

complete -c tsr -n '__fish_seen_subcommand_from help' -a 'ops selftest'

complete -c tsr -n '__fish_seen_subcommand_from ops' -a '(tsr ops --names 2>/dev/null)'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l family -x -a '(tsr ops --families 2>/dev/null)' -d 'only one family'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l json -d 'one JSON document'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l markdown -d 'the reference page'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l names -d 'the names alone'
complete -c tsr -n '__fish_seen_subcommand_from ops' -l families -d 'the names of the families'

complete -c tsr -n '__fish_seen_subcommand_from selftest' -l seed -x -d 'the random numbers of an earlier run'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l seconds -x -d 'go on for so long'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l family -x \
    -a '(tsr ops --families 2>/dev/null) errors threads' -d 'only one family'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l json -d 'one JSON document'
complete -c tsr -n '__fish_seen_subcommand_from selftest' -l verbose -d 'tell of each check'
