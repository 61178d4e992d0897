import { formOf } from './word-forms.ts'

/**
 * English words and frequent forms of them, from -4 (bad) to 4 (good), judged for this program. Ambiguous words, and
 * technical words of a blockchain, are left out or are set to 0 by `NEUTRAL`.
 */
const GROUPS: readonly (readonly [valence: number, words: string])[] = [
  [
    3.4,
    `adore awesome bliss blissful brilliant ecstatic excellent exceptional fabulous fantastic flawless magnificent
     marvellous marvelous masterpiece outstanding perfect perfection phenomenal sensational spectacular splendid
     stellar stunning sublime superb terrific wonderful amazing incredible best euphoria euphoric`,
  ],
  [
    2.9,
    `love lovely loving beloved beautiful beauty delight delightful delighted excited exciting excitement exquisite
     glorious great greatness greatest happy happiness happier happiest joy joyful joyous overjoyed radiant thrill
     thrilled thrilling triumph triumphant treasure wow victory`,
  ],
  [
    2.4,
    `admire admirable admiration affection affectionate attractive bless blessed blessing brave bravery
     breathtaking celebrate celebration champion charm charming cheer cheerful compassion compassionate courage
     courageous dazzling elated elegant enchanting enjoy enjoyable enjoyment enthusiasm enthusiastic extraordinary
     fun funny generous generosity genius genuine glad gorgeous gratitude grateful heavenly hero heroic hilarious
     honest honesty honor honour hope hopeful ideal impressive impressed impress inspire inspired inspiring
     inspiration kindness laugh laughter legendary merry miracle miraculous optimism optimistic passion passionate
     paradise peace peaceful pleasant pleased pleasure praise pride proud remarkable rewarding satisfying smile
     success successful successfully sweet talent talented thank thankful thanks trustworthy tremendous vibrant
     warmth win winner winning wise wisdom wonder good better`,
  ],
  [
    1.9,
    `accomplish accomplished accomplishment achieve achievement adorable advantage advantageous appreciate
     appreciation approve approval awarded beneficial benefit bonus bright calm capable care caring clever comfort
     comfortable commend confident congratulate congratulations cool convincing creative creativity cute dear
     dedicated dependable desirable dignity eager effective efficient effortless encourage encouraged encouraging
     energetic entertaining fair favorite favourite fearless festive flourish fond forgive forgiving freedom friend
     friendly friendship gain gentle gift gifted gracious handsome harmony harmonious healthy helpful humor humour
     important improve improved improvement innovative insightful intelligent interesting intriguing invaluable
     joke jolly kind lucky luck luxury neat nice nicely noble playful polite popular positive powerful precious
     pretty productive profit profitable progress promising prosper prosperity prosperous recommend recommended
     refreshing relax relaxed relaxing reliable relief relieved respect respectful responsive rich robust romantic
     safe safely satisfaction satisfied satisfy seamless sincere skilled smart smooth smoothly soothing sparkling
     strong stronger sunny superior supportive sympathetic sympathy tasty tender thoughtful thrive thriving tidy
     valuable vivid warm welcome welcoming worthwhile worthy yay yummy delicious hug kiss`,
  ],
  [
    1.4,
    `accept accurate adequate advance adventure affordable agree agreeable agreement alive amuse amused amusing
     assist assure assured attentive bargain boost brighten clean clear clearly comforted complimentary
     constructive cooperate convenient correct crisp dream earnest ease easier easily easy educated enhance
     enhanced enrich enrichment exclusive fame fancy fast faster fit flexible fresh grow growth handy heal
     hopefully hooray intuitive keen lively loyal loyalty mature mercy motivated opportunity pardon patient please
     plenty polished prefer premium prize proper protect protected recover recovered recovery rescue resolve
     resolved restore reunite revive save secured simple skill snug solid solution solve solved splendour stable
     steady succeed sturdy suitable sure tops thorough tolerant tranquil triumphs truth upbeat upgrade useful
     vigorous warmly wealth wealthy willing yes yeah`,
  ],
  [
    0.9,
    `fine ok okay decent alright acceptable fairness interested quiet ready reasonable tolerable workable modest
     familiar curious cheap cheaper nifty aha haha hahaha heh lol lmao rofl like`,
  ],
  [
    -0.9,
    `bland boring bored cold costly doubt doubtful dull expensive hassle lazy loud meh mediocre noisy odd
     overpriced pricey questionable skeptical slow slower sluggish strange uncertain unclear unsure vague weird
     tired tiring unusual forget forgot yawn pushy needy indifferent`,
  ],
  [
    -1.4,
    `absurd annoy annoyed annoying annoyance anxious anxiety argue ashamed avoid awkward bitter blame bother
     bothered bothersome broke careless clumsy complain complained complaint complicated concern concerned confuse
     confused confusing confusion crash crashed crashes crazy cringe critical criticise criticism criticize crude
     cry crying damp delay delayed deny denied difficult dirty disagree disagreement disappoint disorganised
     disorganized distract distracted disturb disturbed dread embarrassed embarrassing error excuse exhausted
     exhausting fail fails faulty flaw flawed foolish frown fuss gloomy glitch glitchy greedy grumpy guilt guilty
     harsh hesitant hesitate ignorant ignore ignored impatient inadequate inaccurate incomplete inconsistent
     inconvenient inefficient inferior insecure interrupt irrational irrelevant irritate irritated irritating
     jealous lack lacking lag laggy late leak lonely lose loses lost messy mess mistake mistaken moody naive nag
     negative neglect neglected nervous obsolete obstacle odor outdated penalty pessimistic poor poorly problem
     problematic refuse refused regret reject rejected reluctant resent risk risky rough rude sad sadly shame
     shameful shock shocked shocking shortage shy silly skeptic sloppy cracked chipped torn tore jammed shattered smell smelly sorry spam stress stressed
     stressful stubborn struggle struggled stuck suffer suspicious tense tension tedious trouble troubled
     troublesome ugly unable unacceptable unavailable uncomfortable unfair unfortunate unfortunately unfriendly
     unhappy unhelpful unimpressed uninspired unlucky unpleasant unpopular unprofessional unreasonable unreliable
     unresponsive unsafe unsatisfied unstable unsuccessful unusable unwanted unwilling upset useless vain waste
     wasted wasteful weak weakness weary weep whine worried worry worrying wrong`,
  ],
  [
    -1.9,
    `afraid aggressive alarm alarming angry anger anguish appalled arrogant attack attacked bad badly bankrupt
     bankruptcy beaten betray betrayed betrayal broken buggy bully cheat cheated chaos chaotic collapse collapsed
     condemn conflict corrupt corruption coward cowardly crisis cruel damage damaged danger dangerous dead deadly
     deceive deceived defeat defeated defect defective depressed depressing depression deprived desperate despair
     destroyed dire disappointed disappointing disappointment disaster discourage discouraged discouraging
     dishonest dislike disliked dismal disrespect disrespectful distress distressed dreadful dumb evil exploit
     exploited failed failing failure fake fear fearful fight filthy fool fooled fraud fraudulent frighten
     frightened frightening frustrate frustrated frustrating frustration furious garbage greed grief grim gross
     harass harassed harassment harm harmed harmful harassing helpless hopeless hostile humiliated humiliating hurt
     idiotic ill illegal illness insane insult insulted insulting junk lame liar lied lies lousy malicious
     manipulate manipulated manipulative mad miserable misery misleading mislead misled mourn nasty offend offended
     offensive outrage outraged pain painful panic pathetic perish poison poisonous ridiculous ripoff rip-off
     rotten rubbish ruin ruined scare scared scary scam scammed scammer scammers screwed scum selfish severe shoddy
     sick sickening sin sinister stink stinks steal stole stolen stupid suck sucked sucks suffered suffering
     terrified theft thief threat threaten threatened threatening toxic tragedy tragic trash unforgivable unethical
     untrustworthy victim vicious vile violent violence war worse worthless wound wounded wreck wrecked`,
  ],
  [
    -2.4,
    `abandon abandoned abuse abused abusive agony assault atrocious awful brutal catastrophe catastrophic crime
     criminal cursed deplorable despicable destroy destruction detest detested devastate devastated devastating die
     died dies disastrous disgrace disgraceful disgust disgusted disgusting dying enemy enraged foul ghastly hate
     hated hates hating hateful heartbroken heartbreaking hideous horrid horrific horrified horrify horrifying
     idiot inhumane killing loathe loathing lying miserably moron murderous nightmare pitiful rage repulsive
     revolting torment tormented trauma traumatic wicked`,
  ],
  [
    -3.1,
    `abhorrent abysmal appalling catastrophically execrable genocide horrible horror horrendous kill killed killer
     massacre murder murdered murderer rape rapist slaughter suicide terrible terribly terror terrorism terrorist
     torture tortured worst`,
  ],
  [
    1.9,
    `amazement cheery confidence contented contentment credible devoted ecstasy elation enthralled exhilarated
     exhilarating exuberant faithful gleeful glee grin grinning hurray integrity jovial jubilant jubilation rejoice
     reassure reassured reassuring reputable sincerity steadfast truthful yippee giggle chuckle beaming`,
  ],
  [
    -1.9,
    `aching aggravate aggravated aggravating apprehension apprehensive bereaved bereavement bleak cockroach creepy
     crestfallen cried cries daunting dejected demoralised demoralized desolate despondent disheartened disheartening
     dismay dismayed downcast downhearted eerie enraging exasperated exasperating filth forlorn fright fuming fury
     gloom grieve grieving grudge heartache heartbreak homesick hostility incensed indignant indignation infuriate
     infuriated infuriating intimidated intimidating irate irritation livid loneliness lonesome maddening maggot
     maggots melancholy menacing mouldy moldy mournful outrageous panicked panicking panicky petrified phobia pissed
     remorse resentful resentment sadden saddened sadder saddest seething smelly sob sobbed sobbing sorrow sorrowful
     spite spiteful spooky stench tearful terrify terrifying tragically trembling uneasy uneasiness unhappiness
     unnerving unsettling vengeful wept woeful wrath yell yelled yelling yuck yucky`,
  ],
  [
    -2.4,
    `abhor cringeworthy detestable grotesque hatred icky loathsome nauseated nauseating nauseous nausea obscene odious
     putrid rancid repellent repugnant repulsed repulsion revolted revulsion sickened slimy squalid vomit vomited
     vomiting`,
  ],
  [
    2.2,
    ':) :-) :d :-d =) ;) ;-) :] <3 xd \u{1f600} \u{1f603} \u{1f604} \u{1f60a} \u{1f60d} \u{1f970} \u{2764} \u{1f389} \u{1f44d} \u{1f44f} \u{1f525} \u{1f64f}',
  ],
  [
    -2.2,
    ":( :-( :'( =( :/ :-/ :[ </3 >:( d: \u{1f61e} \u{1f622} \u{1f62d} \u{1f620} \u{1f621} \u{1f494} \u{1f44e} \u{1f92e} \u{1f624}",
  ],
]

/** Words with another meaning in finance or on a chain, or that look like forms of such words. */
const NEUTRAL = `block blocks blocked blocking blockchain burn burns burned burning burnt mine mines mined miner miners mining pool
  pools pooled gas fork forks forked hard soft orphan orphaned orphans stale slash slashed slashing stake staked staking staker proof
  trustless trusted token tokens hash hashes nonce difficulty share shares interest reward rewards mint minted bridge vault lock
  locked freeze frozen halt halted revert reverted fee fees liquidity bear bearish bull bullish yield value secure security securities
  credit credits energy drop drops cut short long call exchange limit limited contract contracts default pending peer peers   likely unlikely likelihood meaning means well-known passing fined fines warring winded carefully support supported supporting supports
  accepted accepting accepts cleared clearing played player players playing kinds sharing shared interests advanced matters matter
  novels content contents exclusively originally original matured fitted fitting fits fasten specially properly property properties
  demanded demands challenge challenged challenging dreams friended topped penalties penalised excused
  ideally drag dragged
  argument arguments latest later true special active actively able natural naturally play plays demand wondering goods stables resolver
  resolvers broker brokers stranger strangers junker roughly warmed top alone trust trusts trusting fastly actives concerning novel please`

/** The words of `NEUTRAL` have 0, even if a group has them, too. */
const VALENCES: ReadonlyMap<string, number> = valences()

function valences(): ReadonlyMap<string, number> {
  const map = new Map<string, number>()
  for (const [valence, words] of GROUPS) for (const word of words.split(/\s+/)) map.set(word, valence)
  for (const word of NEUTRAL.split(/\s+/)) map.set(word, 0)
  return map
}

/** `word` is in lower case. Unknown words have 0. */
export function valenceOf(word: string): number {
  return formOf(VALENCES, word) ?? 0
}
