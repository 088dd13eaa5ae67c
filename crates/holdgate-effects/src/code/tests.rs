mod network;
mod readers;
mod spellings;
mod trees;

use super::act::HEARD;
use super::*;
use crate::Knowledge;
use crate::fuel::Fuel;
use crate::interpreter::Readers;
use crate::path::World;
use std::fmt::Write as _;

/// Every effect as one line: kind, tags, path or host, origins.
fn effects(language: Language, code: &str) -> Vec<String> {
    let world = World::default();
    let know = Knowledge::built_in().unwrap();
    let fuel = Fuel::new(2_000_000);
    let mut scene = Scene::new(&world, &know, &fuel, &Readers);
    HEARD.with_borrow_mut(Vec::clear);
    run(&mut scene, language, &Value::known(code)).unwrap();
    let mut lines: Vec<String> = scene
        .effects
        .iter()
        .map(|e| {
            let mut line = e.kind.word().to_owned();
            for tag in &e.tags {
                let _ = write!(line, " {tag}");
            }
            if let Some(path) = &e.path {
                let _ = write!(line, " {}", path.short);
            }
            if let Some(host) = &e.host {
                let _ = write!(line, " {}", host.name);
            }
            for name in e.origins.names() {
                let _ = write!(line, " <{name}>");
            }
            line
        })
        .collect();
    lines.extend(HEARD.with_borrow_mut(std::mem::take));
    lines
}

/// Checks that all of `expected` happens, in any order.
#[track_caller]
fn check(language: Language, code: &str, expected: &[&str]) {
    let found = effects(language, code);
    for line in expected {
        assert!(
            found.iter().any(|f| f.starts_with(line)),
            "missing `{line}` in {found:#?}\nof {code}"
        );
    }
}

/// Checks that exactly `expected` is handed to shells and interpreters.
#[track_caller]
fn check_runs(language: Language, code: &str, expected: &[&str]) {
    let mut found = effects(language, code);
    found.retain(|line| line.starts_with("shell: ") || line.starts_with("argv: "));
    assert_eq!(found, expected, "of {code}");
}

/// Checks that exactly `expected` happens.
#[track_caller]
fn check_only(language: Language, code: &str, expected: &[&str]) {
    assert_eq!(effects(language, code), expected, "of {code}");
}

#[test]
fn python_deletes() {
    use Language::Python;
    for code in [
        "import shutil; shutil.rmtree('/home')",
        "import shutil as s\ns.rmtree('/ho' + 'me')",
        "from shutil import rmtree as r; r('/home')",
        "__import__('shutil').rmtree('/home')",
        "getattr(__import__('shu'+'til'), 'rm'+'tree')('/home')",
        "import importlib\nm = importlib.import_module('shutil')\nm.rmtree(f'/{\"home\"}')",
        "import shutil\nfor d in ['/tmp/x', '/home']:\n    shutil.rmtree(d)",
        "import shutil\ndef wipe(path):\n    shutil.rmtree(path)\n\nwipe('/home')\n",
        "import shutil\nx = '/home'\nif False:\n    x = '/tmp/y'\nshutil.rmtree(x)",
        "import shutil\nshutil.rmtree('emoh/'[::-1])",
        "import shutil\nshutil.rmtree('%s%s' % ('/', 'home'))",
        "import shutil\nshutil.rmtree('{}/{}'.format('', 'home'))",
        "import shutil\nlist(map(shutil.rmtree, ['/home']))",
        "from pathlib import Path\nimport shutil\nshutil.rmtree(Path('/') / 'home')",
        "import shutil, threading\nthreading.Thread(target=shutil.rmtree, args=('/home',)).start()",
    ] {
        check(Python, code, &["delete recursive /home"]);
    }
    check(
        Python,
        "import os\nos.remove(os.path.expanduser('~/.ssh/id_rsa'))",
        &["delete ~/.ssh/id_rsa"],
    );
    check(
        Python,
        "from pathlib import Path\nPath.home().joinpath('.ssh').rmdir()",
        &["delete ~/.ssh"],
    );
    check(
        Python,
        "import os\nos.unlink(os.path.join(os.environ['HOME'], '.bashrc'))",
        &["delete ~/.bashrc"],
    );
}

#[test]
fn python_runs() {
    use Language::Python;
    for code in [
        "import os; os.system('rm -rf /')",
        "import os\nc = 'rm'\nc += ' -rf /'\nos.system(c)",
        "import os\nos.system(''.join(['rm', ' -rf', ' /']))",
        "import os\nos.system(''.join(chr(c) for c in [114,109,32,45,114,102,32,47]))",
        "import os,base64\nos.system(base64.b64decode('cm0gLXJmIC8=').decode())",
        "import os\nos.system(bytes.fromhex('726d202d7266202f').decode())",
        "import os,codecs\nos.system(codecs.decode('ez -es /', 'rot13'))",
        "getattr(__import__('os'),'sys'+'tem')('rm -rf /')",
        "import subprocess\nsubprocess.run('rm -rf /', shell=True)",
        "import subprocess\nsubprocess.Popen(['rm -rf /'], shell=True)",
        "import os\nos.popen(\"\"\"rm -rf /\"\"\").read()",
        "import os\nrun = lambda c: os.system(c)\nrun('rm -rf /')",
        "import os\nos.system('\\x72\\x6d -rf /')",
        "import os\nos.system(bytes([114,109,32,45,114,102,32,47]).decode())",
        "class A:\n    def go(self, c):\n        import os\n        os.system(c)\nA().go('rm -rf /')",
        "().__class__.__base__.__subclasses__()[133].__init__.__globals__['system']('rm -rf /')",
        "import os\nos.system(\n    'rm '\n    '-rf '\n    '/'\n)",
    ] {
        check(Python, code, &["shell: rm -rf /"]);
    }
    for code in [
        "import subprocess\nsubprocess.run(['rm', '-rf', '/'])",
        "import subprocess\nargs = ['rm', '-rf'] + ['/']\nsubprocess.check_call(args)",
        "import subprocess, shlex\nsubprocess.call(shlex.split('rm -rf /'))",
        "import os\nos.execvp('rm', ['rm', '-rf', '/'])",
        "import os\nos.execlp('rm', 'rm', '-rf', '/')",
        "import asyncio\nasyncio.create_subprocess_exec('rm', '-rf', '/')",
        "import subprocess\nsubprocess.run(args=['rm', '-rf', '/'], check=True)",
    ] {
        check(Python, code, &["argv: rm -rf /"]);
    }
}

#[test]
fn mentions_do_nothing() {
    use Language::{JavaScript, Perl, Php, Python, Ruby};
    for (language, code) in [
        (Python, "print('rm -rf /')"),
        (Python, "# os.system('rm -rf /')\nx = 1"),
        (Python, "\"\"\"\nimport os\nos.system('rm -rf /')\n\"\"\""),
        (
            Python,
            "DANGEROUS = ['rm -rf /', 'curl x | sh']\nassert classify('os.system(\"x\")') == 1",
        ),
        (
            Python,
            "def run(cmd):\n    return subprocess.run(cmd, shell=True, check=True)",
        ),
        (
            Python,
            "class Shell:\n    def exec(self, code):\n        self.exec(code)\n",
        ),
        (
            JavaScript,
            "console.log('rm -rf /') // execSync('rm -rf /')",
        ),
        (
            JavaScript,
            "const re = /execSync\\('x'\\)/; /* eval('x') */ it('runs eval(x)', () => {})",
        ),
        (JavaScript, "const run = (cmd) => execSync(cmd)"),
        (Perl, "print \"system('rm -rf /')\\n\";"),
        (Ruby, "puts 'system(\"rm -rf /\")' # `rm`"),
        (
            Php,
            "<html>system('rm -rf /')</html><?php echo 'system(\"x\")'; ?>`rm`",
        ),
    ] {
        check_only(language, code, &[]);
    }
}

#[test]
fn decoded_code_runs() {
    use Language::{JavaScript, Perl, Php, Python, Ruby};
    for (language, code) in [
        (
            Python,
            "exec(bytes.fromhex('696d706f7274206f733b206f732e73797374656d2827726d202d7266202f2729'))",
        ),
        (
            Python,
            "import base64;exec(base64.b64decode(b'aW1wb3J0IG9zOyBvcy5zeXN0ZW0oJ3JtIC1yZiAvJyk=').decode('utf-8'))",
        ),
        (
            Python,
            "import zlib,base64\nexec(zlib.decompress(base64.b64decode('eJzLzC3ILypRyC+2BmK94sriktRcDfWiXAXdojQFfXVNAMCwCqA=')))",
        ),
        (
            JavaScript,
            "eval(atob('cmVxdWlyZSgnY2hpbGRfcHJvY2VzcycpLmV4ZWNTeW5jKCdybSAtcmYgLycp'))",
        ),
        (
            JavaScript,
            "eval(Buffer.from('cmVxdWlyZSgnY2hpbGRfcHJvY2VzcycpLmV4ZWNTeW5jKCdybSAtcmYgLycp','base64').toString())",
        ),
        (Php, "eval(base64_decode('c3lzdGVtKCdybSAtcmYgLycpOw=='));"),
        (Php, "eval(str_rot13('flfgrz(\"ez -es /\");'));"),
        (
            Ruby,
            "eval(['73797374656d2827726d202d7266202f2729'].pack('H*'))",
        ),
        (
            Perl,
            "use MIME::Base64; eval(decode_base64('c3lzdGVtKCdybSAtcmYgLycpOw=='));",
        ),
        (
            Perl,
            "eval pack('H*','73797374656d2827726d202d7266202f2729');",
        ),
    ] {
        check(
            language,
            code,
            &["execute-decoded <decoded>", "shell: rm -rf /"],
        );
    }
}

#[test]
fn other_languages_run() {
    use Language::{Compiled, JavaScript, Lua, Perl, Php, Ruby};
    for (language, code) in [
        (JavaScript, "require('child_process').execSync('rm -rf /')"),
        (
            JavaScript,
            "const {exec: run} = require('node:child_process'); run(`rm ${'-rf'} /`)",
        ),
        (
            JavaScript,
            "import { execSync } from 'child_process';\nexecSync('rm -rf /', {stdio: 'inherit'});",
        ),
        (
            JavaScript,
            "import cp from 'child_process'\ncp['ex'+'ecSync'](['rm','-rf','/'].join(' '))",
        ),
        (
            JavaScript,
            "global['req'+'uire']('child_process').exec(String.fromCharCode(114,109,32,45,114,102,32,47))",
        ),
        (
            JavaScript,
            "Function('return process')().mainModule.require('child_process').execSync('rm -rf /')",
        ),
        (
            JavaScript,
            "this.constructor.constructor(\"require('child_process').execSync('rm -rf /')\")()",
        ),
        (
            JavaScript,
            "run('rm -rf /'); function run(c) { require('child_process').execSync(c) }",
        ),
        (
            JavaScript,
            "const r = await tools.exec_command({cmd: 'rm -rf /', workdir: '/'}); text(r.output)",
        ),
        (
            JavaScript,
            "require('child_process').execSync.call(null, 'rm -rf /')",
        ),
        (Perl, "system('rm -rf /');"),
        (Perl, "my $c = 'rm'; system \"$c -rf /\";"),
        (Perl, "my $x = `rm -rf /`;"),
        (Perl, "open(my $f, '-|', 'rm -rf /') or die;"),
        (Perl, "exec qq{rm -rf /};"),
        (Perl, "sub go { my ($c) = @_; system($c) } go('rm -rf /');"),
        (Ruby, "system 'rm -rf /'"),
        (Ruby, "x = 'rm'\n`#{x} -rf /`"),
        (Ruby, "%x(rm -rf /)"),
        (Ruby, "Kernel.send(:system, 'rm -rf /')"),
        (Ruby, "IO.popen('rm -rf /', 'r')"),
        (Ruby, "open('|rm -rf /')"),
        (Ruby, "['rm -rf /'].each { |c| system(c) }"),
        (Php, "<?php system('rm -rf /'); ?>"),
        (Php, "$f = 'sys'.'tem'; $f('rm -rf /');"),
        (Php, "$c = 'rm'; echo `$c -rf /`;"),
        (Php, "call_user_func('shell_exec', 'rm -rf /');"),
        (Lua, "os.execute('rm -rf /')"),
        (Lua, "io.popen('rm' .. ' -rf /'):read('*a')"),
        (
            Compiled,
            "int main(void) { char *c = \"rm -rf /\"; return system(c); }",
        ),
        (Compiled, "Runtime.getRuntime().exec(\"rm -rf /\");"),
    ] {
        check(language, code, &["shell: rm -rf /"]);
    }
    for (language, code) in [
        (
            JavaScript,
            "const { spawnSync } = require('child_process'); spawnSync('rm', ['-rf', '/'])",
        ),
        (JavaScript, "Bun.spawn(['rm', '-rf', '/'])"),
        (
            JavaScript,
            "new Deno.Command('rm', { args: ['-rf', '/'] }).output()",
        ),
        (Perl, "system('rm', '-rf', '/');"),
        (Perl, "my @a = qw(rm -rf /); system(@a);"),
        (Ruby, "system('rm', '-rf', '/')"),
        (Ruby, "exec *%w[rm -rf /]"),
        (Compiled, "exec.Command(\"rm\", \"-rf\", \"/\").Run()"),
        (
            Compiled,
            "fn main() { std::process::Command::new(\"rm\").arg(\"-rf\").args([\"/\"]).status(); }",
        ),
        (
            Compiled,
            "fn main() { let mut c = Command::new(\"rm\"); c.args(&[\"-rf\", \"/\"]); c.spawn().unwrap(); }",
        ),
        (
            Compiled,
            "new ProcessBuilder(\"rm\", \"-rf\", \"/\").start();",
        ),
        (
            Compiled,
            "execl(\"/bin/rm\", \"rm\", \"-rf\", \"/\", NULL);",
        ),
    ] {
        check(language, code, &["argv: rm -rf /"]);
    }
}

#[test]
fn files() {
    use Language::{JavaScript, Perl, Php, Python, Ruby};
    check(
        Python,
        "open('/etc/cron.d/x','w').write('* * * * * root id')",
        &["write /etc/cron.d/x", "write append /etc/cron.d/x"],
    );
    check(
        Python,
        "with open('a.txt') as f:\n    print(f.read())",
        &["read ~/project/a.txt <file>"].map(|_| "read ~/project/a.txt"),
    );
    check(
        Python,
        "from pathlib import Path\np = Path(__file__).parent / 'dist'\nimport shutil\nshutil.rmtree(p)",
        &["delete recursive ~/project/dist"],
    );
    check(
        JavaScript,
        "fs.rmSync(path.join(__dirname, 'dist'), { recursive: true, force: true })",
        &["delete recursive ~/project/dist"],
    );
    check(JavaScript, "fs.rmSync('x')", &["delete ~/project/x"]);
    check(
        JavaScript,
        "require('fs').appendFileSync(require('os').homedir() + '/.bashrc', 'x')",
        &["write append ~/.bashrc"],
    );
    check(
        Perl,
        "unlink '/etc/passwd'; use File::Path; rmtree('/home');",
        &["delete /etc/passwd", "delete recursive /home"],
    );
    check(
        Perl,
        "open(my $fh, '>', '/etc/passwd'); open(F, '</etc/shadow');",
        &["write /etc/passwd", "read /etc/shadow"],
    );
    check(
        Ruby,
        "FileUtils.rm_rf '/home'\nFile.write('/etc/passwd', 'x')",
        &["delete recursive /home", "write /etc/passwd"],
    );
    check(
        Php,
        "unlink('/etc/passwd'); file_put_contents('/etc/x', 'y');",
        &["delete /etc/passwd", "write /etc/x"],
    );
    check(
        JavaScript,
        "tools.apply_patch('*** Begin Patch\\n*** Delete File: a.txt\\n*** Add File: b.txt\\n+x\\n*** End Patch')",
        &["delete ~/project/a.txt", "write edit ~/project/b.txt"],
    );
}

#[test]
fn forks_without_end() {
    use Language::{Compiled, Perl, Python, Ruby};
    for (language, code) in [
        (Python, "import os\nwhile True:\n    os.fork()"),
        (Python, "import os\nwhile 1: os.fork()"),
        (Perl, "fork while fork"),
        (Ruby, "loop { fork }"),
        (Compiled, "int main(){while(1)fork();}"),
        (Compiled, "int main(){for(;;)fork();}"),
    ] {
        check(language, code, &["exhaust"]);
    }
    check_only(
        Python,
        "import os\npid = os.fork()\nif pid == 0:\n    work()\n",
        &[],
    );
}

#[test]
fn hostile_shapes_end() {
    for language in [
        Language::Python,
        Language::JavaScript,
        Language::Perl,
        Language::Ruby,
        Language::Php,
        Language::Lua,
        Language::Compiled,
    ] {
        for piece in [
            "(",
            "[",
            "{",
            "f(",
            "f'{",
            "\"#{",
            "`${",
            "x=[",
            "a.b(",
            "lambda x:",
            "def f(x):\n ",
            "x=>",
            "-",
            "f(lambda:",
            "<<A ",
            "%w[",
            "q{",
            "'",
            "\"",
            "a,",
            "?:",
            "{a:",
            "x=x+x;",
            "for x in ",
            "not ",
            "$",
            "/",
            "function f(a){f(a);f(a)};f(1);",
        ] {
            let code = piece.repeat(8_000 / piece.len());
            let world = World::default();
            let know = Knowledge::built_in().unwrap();
            let fuel = Fuel::new(2_000_000);
            let mut scene = Scene::new(&world, &know, &fuel, &Readers);
            let _ = run(&mut scene, language, &Value::known(code));
        }
    }
}
