//! One command in many spellings: through variables, tables, own functions, decoders, reflection.

use super::{check, effects};
use crate::code::Language::{self, Compiled, JavaScript, Lua, Perl, Php, Python, Ruby};

#[test]
fn spellings_of_one_command() {
    let spellings: &[(Language, &str)] = &[
        (
            Python,
            "import os\nx = {'c': 'rm -rf /'}\nos.system(x['c'])",
        ),
        (
            Python,
            "import os\ncmds = ['ls', 'rm -rf /']\n[os.system(c) for c in cmds]",
        ),
        (
            Python,
            "from base64 import b64decode as d\nfrom os import system as s\ns(d('cm0gLXJmIC8='))",
        ),
        (Python, "import os as _\n_.__dict__['system']('rm -rf /')"),
        (Python, "eval(\"__import__('os').system('rm -rf /')\")"),
        (Python, "exec('import os\\nos.system(\"rm -rf /\")')"),
        (Python, "import subprocess as s; s.run(*[['rm','-rf','/']])"),
        (
            Python,
            "import subprocess\ncmd = 'rm -rf /'.split()\nsubprocess.run(cmd)",
        ),
        (
            Python,
            "import subprocess\nsubprocess.run(['bash','-c','rm -rf /'])",
        ),
        (
            Python,
            "import os\nos.system('rm' + chr(32) + '-rf' + chr(32) + chr(47))",
        ),
        (Python, "import os\na,b='rm -rf','/'\nos.system(f'{a} {b}')"),
        (
            Python,
            "import os\nos.system(''.join(map(chr,[114,109,32,45,114,102,32,47])))",
        ),
        (
            Python,
            "import os\nos.system(''.join([chr(int(x,16)) for x in '72 6d 20 2d 72 66 20 2f'.split()]))",
        ),
        (
            Python,
            "import os\nos.system(bytes(x^1 for x in b'sl!,sg!.').decode())",
        ),
        (
            Python,
            "class R:\n  def __reduce__(self):\n    import os\n    return (os.system, ('rm -rf /',))",
        ),
        (
            Python,
            "import os\nif __name__ == '__main__':\n    def main():\n        os.system('rm -rf /')\n    main()",
        ),
        (
            Python,
            "import os,sys\nos.system(sys.argv[1] if len(sys.argv)>1 else 'rm -rf /')",
        ),
        (
            Python,
            "import ctypes\nctypes.CDLL(None).system(b'rm -rf /')",
        ),
        (Python, "(lambda f: f('rm -rf /'))(__import__('os').system)"),
        (Python, "import os; f=os.system; f('rm -rf /')"),
        (Python, "import os; [f:=os.system, f('rm -rf /')]"),
        (
            Python,
            "import os\nwith os.popen('rm -rf /') as p: print(p.read())",
        ),
        (Python, "import os;os.system('rm -rf /') if True else None"),
        (
            Python,
            "import builtins; getattr(builtins,'ev'+'al')('__import__(\"os\").system(\"rm -rf /\")')",
        ),
        (
            Python,
            "import types\ntypes.FunctionType(compile('__import__(\"os\").system(\"rm -rf /\")','','exec'),{})()",
        ),
        (Python, "import pty; pty.spawn(['rm','-rf','/'])"),
        (
            Python,
            "import code; code.InteractiveInterpreter().runcode('import os; os.system(\"rm -rf /\")')",
        ),
        (
            JavaScript,
            "var a=['rm','-rf','/'];require('child_process').spawnSync(a[0],a.slice(1))",
        ),
        (
            JavaScript,
            "const cp=await import('child_process');cp.execSync('rm -rf /')",
        ),
        (
            JavaScript,
            "import('child_process').then(c=>c.execSync('rm -rf /'))",
        ),
        (
            JavaScript,
            "require('child_process').exec(Buffer.from('726d202d7266202f','hex').toString())",
        ),
        (
            JavaScript,
            "new Function('require', \"require('child_process').execSync('rm -rf /')\")(require)",
        ),
        (
            JavaScript,
            "process.mainModule.constructor._load('child_process').execSync('rm -rf /')",
        ),
        (
            JavaScript,
            "(0,eval)(\"require('child_process').execSync('rm -rf /')\")",
        ),
        (
            JavaScript,
            "setTimeout(\"require('child_process').execSync('rm -rf /')\",0)",
        ),
        (
            JavaScript,
            "const {promisify}=require('util');const x=promisify(require('child_process').exec);await x('rm -rf /')",
        ),
        (
            JavaScript,
            "eval('\\x72equire(\"child_process\").execSync(\"rm -rf /\")')",
        ),
        (
            JavaScript,
            "const o={run(c){require('child_process').execSync(c)}};o.run('rm -rf /')",
        ),
        (
            JavaScript,
            "class A{go(c){require('child_process').execSync(c)}}; new A().go('rm -rf /')",
        ),
        (
            JavaScript,
            "require('child_process').execSync(`rm -rf ${'/'}`)",
        ),
        (
            JavaScript,
            "const s='/ fr- mr'.split('').reverse().join('');require('child_process').execSync(s)",
        ),
        (JavaScript, "$`rm -rf /`"),
        (JavaScript, "import { $ } from 'bun'; await $`rm -rf /`"),
        (Ruby, "eval \"system('rm -rf /')\""),
        (Ruby, "Object.new.instance_eval { system('rm -rf /') }"),
        (Ruby, "Process.spawn('rm -rf /')"),
        (Ruby, "exec('rm -rf /') if true"),
        (Ruby, "def a(c)\n  system(c)\nend\na('rm -rf /')"),
        (
            Ruby,
            "require 'open3'\nout, st = Open3.capture2('rm -rf /')",
        ),
        (Ruby, "method(:system).call('rm -rf /')"),
        (Ruby, "Kernel.public_send('sys'+'tem', 'rm -rf /')"),
        (Ruby, "system(\"rm\" \" -rf /\")"),
        (Perl, "my @c=('rm -rf /'); system($c[0]);"),
        (Perl, "for my $c ('ls','rm -rf /') { system($c); }"),
        (Perl, "system(join(' ','rm','-rf','/'));"),
        (Perl, "open(F, 'rm -rf /|');"),
        (Perl, "$_='rm -rf /';system($_);"),
        (Perl, "eval \"system('rm -rf /')\";"),
        (Perl, "exec 'sh','-c','rm -rf /';"),
        (Perl, "system(reverse('/ fr- mr'));"),
        (Php, "$a='sys';$b='tem';($a.$b)('rm -rf /');"),
        (Php, "array_map('system',['rm -rf /']);"),
        (Php, "$x=\"rm\";passthru(\"$x -rf /\");"),
        (Php, "system(base64_decode('cm0gLXJmIC8='));"),
        (Php, "$f=strrev('metsys');$f('rm -rf /');"),
        (Php, "eval('system(\"rm -rf /\");');"),
        (Php, "popen('rm -rf /','r');"),
        (Php, "assert(\"system('rm -rf /')\");"),
        (Lua, "load(\"os.execute('rm -rf /')\")()"),
        (Lua, "local e=os.execute e('rm -rf /')"),
        (Lua, "os['execute']('rm -rf /')"),
        (
            Compiled,
            "import static java.lang.Runtime.*; getRuntime().exec(new String[]{\"rm\",\"-rf\",\"/\"});",
        ),
        (
            Compiled,
            "Runtime r = Runtime.getRuntime(); r.exec(\"rm -rf /\");",
        ),
        (Compiled, "\"rm -rf /\".execute()"),
        (Compiled, "[\"rm\",\"-rf\",\"/\"].execute()"),
        (
            Compiled,
            "e := exec.Command\ne(\"rm\", \"-rf\", \"/\").Run()",
        ),
    ];
    for (language, code) in spellings {
        let found = effects(*language, code);
        let deletes = |line: &String| {
            line.starts_with("delete recursive") && line.split(' ').any(|word| word == "/")
        };
        assert!(found.iter().any(deletes), "{found:#?}\nof {code}");
    }
}

#[test]
fn scalar_in_perl_is_a_word_of_the_language_and_a_word_in_texts() {
    check(
        Perl,
        "system(scalar reverse('/ fr- mr'))",
        &["shell: rm -rf /"],
    );
    check(Perl, "system('echo scalar x')", &["shell: echo scalar x"]);
}

#[test]
fn data_after_padding_is_read_by_shell_and_code_alike() {
    // `true;`, its padding, and `rm -rf /`.
    let data = "dHJ1ZTs=cm0gLXJmIC8=";
    let python = format!("import os, base64\nos.system(base64.b64decode('{data}'))");
    check(Python, &python, &["shell: true;rm -rf /"]);
    let shell = format!("echo {data} | base64 -d | sh");
    check(Language::Shell, &shell, &["delete recursive force /"]);
}
