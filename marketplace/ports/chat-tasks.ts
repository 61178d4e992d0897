/** What is known of one block of code within a text. */
export interface CodeFinding {
  /** As its fence names it, lower case; empty where it names none. */
  readonly language: string
  /** Line of the text on which its fence stands, from 1. */
  readonly line: number
  /** `parses` and `broken` where a parser of its language read it; `not checked` where there is none, and it was only counted through. */
  readonly verdict: 'parses' | 'broken' | 'not checked'
  /** What is wrong, in a sentence; null where nothing was found. */
  readonly problem: string | null
}

/** What is known of the code in a text. Nothing of it was run. */
export interface CodeFindings {
  /** In the order of the text. */
  readonly blocks: readonly CodeFinding[]
  /** Blocks in all, those beyond the bound counted. */
  readonly total: number
}

/** Whether a text is JSON that follows a schema. */
export interface SchemaCheck {
  readonly passes: boolean
  /** The text without a fence around it. */
  readonly text: string
  /** What is wrong with it, in a sentence; empty where nothing is. */
  readonly reason: string
}

/** Work on what models wrote. */
export interface ChatTasks {
  /** Parses the fenced blocks of code of a Markdown text. */
  readonly 'chat/check-code': { readonly input: { readonly text: string }; readonly output: CodeFindings }
  /** A Markdown text as it is read out, without its marks. A longer one than 32,768 characters is refused. */
  readonly 'chat/plain-text': { readonly input: { readonly text: string }; readonly output: { readonly text: string } }
  /**
   * Checks a text against a JSON schema of a caller, below the bounds of `schemaTrouble`; with null only whether the schema can be used,
   * which is refused where it cannot.
   */
  readonly 'chat/check-schema': {
    readonly input: { readonly schema: Readonly<Record<string, unknown>>; readonly text: string | null }
    readonly output: SchemaCheck
  }
}
