import { stripTypeScriptTypes } from 'node:module'
import { type Options, parse } from 'acorn'
import { parseAllDocuments } from 'yaml'
import { EngineLoss } from '../../engines/refusal.ts'
import { bracketProblem, type QuotingRules } from './delimiters.ts'
import { tagProblem } from './html-tags.ts'

/** The problem in a sentence; null if none is found. */
export type CodeReader = (code: string) => string | null

/** How code of a language is checked. */
export interface Language {
  readonly read: CodeReader
  /** Whether the verdict counts: `read` is a real parser. */
  readonly parses: boolean
}

const SCRIPT: Options = {
  ecmaVersion: 'latest',
  // Code blocks are parts of files and functions.
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
  allowHashBang: true,
}

/** Code is valid if it parses as a module or as a script. A problem is told as of a module. */
const readJavaScript: CodeReader = (code) => {
  const asModule = thrownBy(() => parse(code, { ...SCRIPT, sourceType: 'module' }))
  return asModule === null ? null : thrownBy(() => parse(code, { ...SCRIPT, sourceType: 'script' })) && asModule
}

const SYNTAX = 'ERR_INVALID_TYPESCRIPT_SYNTAX'
/** Enums and the like: valid code that Node does not run. */
const UNSUPPORTED = 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'

const readTypeScript: CodeReader = (code) => {
  try {
    stripTypeScriptTypes(code)
    return null
  } catch (error) {
    const { code: kind, message } = error as NodeJS.ErrnoException
    if (kind === UNSUPPORTED) return null
    // After any other error the parser's memory is corrupt, and it fails on all further code.
    if (kind !== SYNTAX) throw new EngineLoss(`the TypeScript parser broke down (${kind})`)
    return message
  }
}

const readJson: CodeReader = (code) => thrownBy(() => JSON.parse(code))

const readYaml: CodeReader = (code) => {
  const documents = parseAllDocuments(code, { prettyErrors: false, logLevel: 'silent' })
  const errors = Array.isArray(documents) ? documents.flatMap((document) => document.errors) : []
  return errors[0]?.message ?? null
}

function thrownBy(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}

const parser = (read: CodeReader): Language => ({ parses: true, read })
const counted = (rules: QuotingRules): Language => ({ parses: false, read: (code) => bracketProblem(code, rules) })

const QUOTES = ['"', "'"]
const C_LIKE = counted({ comments: ['//'], blockComments: true, quotes: QUOTES, longQuotes: ['"""', '`'] })
/** A single quote in Rust may begin a lifetime, which has no closing quote. */
const RUST = counted({ comments: ['//'], blockComments: true, quotes: ['"'], longQuotes: [] })
const HASH = counted({ comments: ['#'], blockComments: false, quotes: QUOTES, longQuotes: ['"""', "'''"] })
const DASHES = counted({ comments: ['--'], blockComments: true, quotes: QUOTES, longQuotes: [] })

const LANGUAGES: readonly (readonly [string, Language])[] = [
  ['js javascript mjs cjs node', parser(readJavaScript)],
  ['ts typescript mts cts', parser(readTypeScript)],
  ['json', parser(readJson)],
  ['yaml yml', parser(readYaml)],
  ['html htm', parser(tagProblem)],
  ['c h cpp c++ cc cxx hpp java kotlin kt swift go golang cs c# csharp scala dart php css scss less', C_LIKE],
  ['jsx tsx jsonc json5 zig solidity sol glsl hlsl wgsl groovy objective-c objc proto graphql', C_LIKE],
  ['rust rs', RUST],
  ['python py python3 ruby rb r julia jl elixir ex toml nix', HASH],
  ['sql lua haskell hs ada', DASHES],
]

const BY_NAME: ReadonlyMap<string, Language> = new Map(
  LANGUAGES.flatMap(([names, language]) => names.split(' ').map((name) => [name, language] as const)),
)

/** `name` is that on the fence. Null for unknown languages. */
export function languageNamed(name: string): Language | null {
  return BY_NAME.get(name) ?? null
}
