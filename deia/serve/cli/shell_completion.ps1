Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $env:%(complete_var)s = "powershell_complete"
    $env:COMP_WORDS = $commandAst.ToString()
    $env:COMP_INCOMPLETE = $wordToComplete
    try {
        %(prog_name)s | ForEach-Object {
            $value, $help = $_ -split "`t", 2
            if (-not $help) { $help = $value }
            $quoted = if ($value -match "[\s']") { "'" + $value.Replace("'", "''") + "'" } else { $value }
            [System.Management.Automation.CompletionResult]::new($quoted, $value, "ParameterValue", $help)
        }
    } finally {
        Remove-Item Env:%(complete_var)s, Env:COMP_WORDS, Env:COMP_INCOMPLETE -ErrorAction SilentlyContinue
    }
}
