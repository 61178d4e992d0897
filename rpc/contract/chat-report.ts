import * as Type from './schema.ts'

const OPEN = { additionalProperties: true }
const COUNT = Type.Integer({ minimum: 0 })
const TEXTS = Type.Array(Type.String())

const words = (...all: readonly string[]) => Type.Union(all.map((word) => Type.Literal(word)))

const CODE = Type.Object(
  {
    checked: Type.Union([Type.Literal('draft'), Type.Literal('answer')], {
      description: 'Later stages may have rewritten a draft',
    }),
    total: Type.Integer({ minimum: 0, description: 'Code blocks in the text, including those that are not listed' }),
    blocks: Type.Array(
      Type.Object({
        language: Type.String({ description: 'As the fence names it; empty where it names none' }),
        line: Type.Integer({ minimum: 1, description: 'Line of the text on which the fence stands' }),
        verdict: words('parses', 'broken', 'not checked'),
        problem: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  },
  { description: 'Code was parsed, not run' },
)

const DRAFTS = Type.Object({
  asked: COUNT,
  answered: COUNT,
  models: TEXTS,
  sampled: Type.Boolean({ description: 'Whether several came from one model' }),
})

const ROUTER = Type.Object({ by: words('rules', 'model'), rule: Type.String(), task: Type.String() })

const VOTE = Type.Object({
  samples: COUNT,
  agreeing: Type.Array(COUNT, { description: 'Samples with the same final answer, group by group' }),
  by: words('majority', 'judge', 'order'),
})

const SEARCH = Type.Object({
  query: Type.String(),
  provider: Type.String(),
  stale: Type.Boolean({ description: 'Whether it was found by an earlier search, since the provider did not answer' }),
  pages: COUNT,
})

const COMPRESSION = Type.Object({
  fromChars: COUNT,
  toChars: COUNT,
  summarised: Type.Integer({ minimum: 0, description: 'Parts of the conversation that were replaced by summaries' }),
  remembered: Type.Integer({ minimum: 0, description: 'Summaries that were reused from earlier' }),
  dropped: Type.Integer({ minimum: 0, description: 'Messages and summaries that were left out' }),
})

const EVALUATION = Type.Object({
  passes: Type.Boolean({ description: 'The judgement on the text before it was revised' }),
  issues: TEXTS,
  revised: Type.Boolean(),
})

const STAGE = Type.Object({
  stage: Type.String(),
  ran: Type.Boolean(),
  reason: Type.Optional(Type.String({ description: 'Why it did not run, or what went wrong in it' })),
  models: TEXTS,
  ms: COUNT,
})

const CITATION = Type.Object({ index: COUNT, url: Type.String(), title: Type.String(), start: COUNT, end: COUNT })

/** `x_platform` of an answer: what happened for it. An optional member is missing if its stage did not run. */
export const CHAT_REPORT = Type.Object(
  {
    model: Type.String(),
    pipeline: Type.String(),
    tier: Type.Optional(Type.String()),
    mode: Type.Optional(Type.String()),
    stages: Type.Array(STAGE),
    grounded: Type.Boolean(),
    citations: Type.Array(CITATION),
    usageEstimated: Type.Boolean(),
    structured: Type.Optional(words('native', 'grammar', 'checked', 'repaired')),
    resumed: Type.Optional(Type.Object({ afterChars: COUNT })),
    evaluation: Type.Optional(EVALUATION),
    code: Type.Optional(CODE),
    router: Type.Optional(ROUTER),
    compression: Type.Optional(COMPRESSION),
    search: Type.Optional(SEARCH),
    drafts: Type.Optional(DRAFTS),
    ensemble: Type.Optional(Type.String({ description: 'Why the drafts of several models were not used' })),
    vote: Type.Optional(VOTE),
    speech: Type.Optional(
      Type.Object({ characters: COUNT, truncated: Type.Boolean() }, { description: 'How much of it was read out' }),
    ),
  },
  OPEN,
)
