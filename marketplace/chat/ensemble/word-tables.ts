/** Words that show the subject of a question, by language. */
export interface WordTable {
  /** Whole words and phrases, separated by commas. */
  readonly spaced: Readonly<Record<string, string>>
  /** Words of Chinese, Japanese, Korean and Thai. They match anywhere: spaces do not reliably separate words there. */
  readonly unspaced?: string
}

/** Greetings, thanks and farewells. */
export const GREETING: WordTable = {
  spaced: {
    en: 'hi, hello, hey, hiya, yo, howdy, greetings, good morning, good afternoon, good evening, good night, thanks, thank you, thx, bye, goodbye, see you, how are you, how are you doing, whats up, what is up, nice to meet you, ok, okay, cool, great, cheers, take care, good bye',
    de: 'hallo, guten tag, guten morgen, guten abend, gute nacht, servus, moin, grüß gott, danke, vielen dank, tschüss, auf wiedersehen, wie geht es dir, wie gehts',
    fr: 'bonjour, salut, bonsoir, coucou, merci, merci beaucoup, au revoir, ça va, comment ça va',
    es: 'hola, buenos días, buenas tardes, buenas noches, buenas, gracias, muchas gracias, adiós, qué tal, cómo estás',
    it: 'ciao, buongiorno, buonasera, salve, grazie, arrivederci, come stai, come va',
    pt: 'olá, oi, bom dia, boa tarde, boa noite, obrigado, obrigada, tchau, tudo bem',
    nl: 'hoi, goedemorgen, goedemiddag, goedenavond, dank je, bedankt, hoe gaat het',
    pl: 'cześć, dzień dobry, dobry wieczór, dziękuję, do widzenia',
    tr: 'merhaba, selam, günaydın, teşekkürler, nasılsın',
    ru: 'привет, здравствуйте, здравствуй, добрый день, доброе утро, добрый вечер, спасибо, пока, как дела',
    uk: 'привіт, добрий день, дякую',
    ar: 'مرحبا, السلام عليكم, اهلا, شكرا, صباح الخير, مساء الخير',
    he: 'שלום, תודה',
    hi: 'नमस्ते, धन्यवाद',
  },
  unspaced:
    '你好, 您好, 嗨, 早上好, 晚上好, 谢谢, 再见, こんにちは, こんばんは, おはよう, ありがとう, 안녕하세요, 안녕, 감사합니다, สวัสดี',
}

/** Programming languages, tools and terms. The router knows which of them are ambiguous. */
export const CODE: WordTable = {
  spaced: {
    any: 'python, javascript, typescript, java, kotlin, swift, rust, golang, c++, c#, php, ruby, sql, html, css, bash, powershell, regex, regexp, json, yaml, xml, react, vue, angular, django, flask, nodejs, node.js, next.js, express.js, npm, pip, docker, dockerfile, docker compose, kubernetes, git, api, rest api, apis, http, async, await, stdout, stderr, segfault, nullpointerexception, csv, struct, structs, tuple, tuples, boolean, localhost, frontend, backend, postgres, postgresql, mysql, sqlite, mongodb, redis, numpy, pandas, dataframe, webpack, tailwind, pytest, julia, scala, perl, haskell, in go, in c, in r, in scratch, en c',
    en: 'code, function, functions, class, method, methods, script, program, algorithm, compiler, compile, debug, debugger, bug, bugs, refactor, unit test, unit tests, stack trace, traceback, exception, endpoint, database query, database schema, web page, website, landing page, source code, command line, implement, fix, crash, crashes, variable, variables, array, arrays, loop, loops, pointer, recursion, recursive, parser, linked list, binary search, binary tree, hash map, hash table, data structure, time complexity, memory leak, race condition, virtual environment, environment variable, pull request, merge conflict, borrow checker, null pointer',
    de: 'funktion, klasse, skript, programm, programmiere, quelltext, algorithmus, fehlermeldung, implementiere',
    fr: 'fonction, programme, algorithme, implémente, code source',
    es: 'función, código, programa, algoritmo, implementa',
    it: 'funzione, codice, programma, algoritmo, implementa',
    pt: 'função, código, programa, algoritmo, implemente',
    ru: 'код, функцию, функция, программу, алгоритм, скрипт',
  },
  unspaced:
    '代码, 函数, 编程, 程序, 算法, 脚本, コード, 関数, プログラム, アルゴリズム, 코드, 함수, 프로그램, 알고리즘',
}

/** Technical words, such as list and file. They count only beside an ambiguous name of a language or tool. */
export const TECHNICAL: WordTable = {
  spaced: {
    en: 'sort, sorted, sorting, list, lists, file, files, folder, string, strings, table, error, errors, install, server, library, package, module, component, components, import, query, database, app, tests, print, service, framework, thread, threads, object, objects, interface, inheritance, loop, null, undefined, output, input, syntax, integer, index, log, cli, plugin, deploy, build, command, promise, closure, iterator, generator, decorator, version, update, upgrade',
    de: 'datei, liste, fehler, sortiere, installiere, tabelle',
    fr: 'fichier, liste, erreur, tableau, trie, installer',
    es: 'archivo, lista, error, ordena, instalar, tabla',
    it: 'lista, errore, ordina',
    pt: 'arquivo, lista, erro, ordene',
    ru: 'файл, файлы, список, ошибка, ошибку, массив',
  },
}

/** Phrases in which a word of another table means something else. */
export const OTHERWISE: WordTable = {
  spaced: {
    en: 'dress code, zip code, swift code, area code, country code, postal code, post code, morse code, building code, highway code, penal code, code of conduct, code of ethics, promo code, discount code, code name, cheat code, da vinci code, yoga class, first class, business class, economy class, middle class, working class, upper class, world class, dance class, school class, tv program, training program, space program, loyalty program, exchange program, bed bugs, bed bug, stink bug, movie script, film script, rust belt, ball python, monty python, taylor swift, jonathan swift, java sea, java island, scientific method, new york times, quick fix, plane crash, car crash, stock market crash, market crash, heart function, table of contents, sum of money, what is the story, the matrix, how old is the song, how do you do, how do you say, how do i say, how do you spell, how do you pronounce',
  },
}

/** Words of mathematics with hardly any other meaning. */
export const MATH: WordTable = {
  spaced: {
    en: 'equation, equations, integral of, derivative of, probability of, probability that, prove that, proof that, proof of the theorem, inverse matrix, determinant, eigenvalue, eigenvalues, logarithm, polynomial, factorial, prime number, prime numbers, prime factors, modulo, square root, cube root, percent of, how many ways, divisible, standard deviation, arithmetic mean, geometric series, binomial coefficient, quadratic, trigonometry, least common multiple, greatest common divisor',
    de: 'löse, gleichung, integral, ableitung, berechne, wahrscheinlichkeit, beweise, beweis, wurzel, teilbar',
    fr: 'résous, résoudre, équation, intégrale, dérivée, calcule, calculer, probabilité, démontre, démontrer, racine',
    es: 'resuelve, ecuación, integral, derivada, calcula, probabilidad, demuestra, raíz',
    it: 'risolvi, equazione, integrale, derivata, calcola, probabilità, dimostra, radice',
    pt: 'resolva, equação, integral, derivada, calcule, probabilidade, prove que, raiz',
    ru: 'реши, решите, уравнение, интеграл, производную, производная, вычисли, вычислите, вероятность, докажи, докажите, корень',
  },
  unspaced:
    '求解, 方程, 积分, 导数, 计算, 概率, 证明, 解方程, 方程式, 積分, 微分, 計算, 確率, 証明, 방정식, 적분, 미분, 계산, 확률, 증명',
}

/** Operations of mathematics. Beside one of the {@link QUANTITIES} they are a mathematical problem, some also beside a number. */
export const RECKONING: WordTable = {
  spaced: {
    en: 'solve, prove, calculate, compute, find, determine, evaluate, simplify, factor, factorise, factorize, integrate, differentiate, work out',
  },
}

/** Quantities that the operations of {@link RECKONING} are about. */
export const QUANTITIES: WordTable = {
  spaced: {
    en: 'theorem, probability, matrix, integral, derivative, sum, product, remainder, percent, percentage, area, perimeter, circumference, volume, radius, diameter, hypotenuse, fraction, ratio, triangle, circle, rectangle, cube, sphere, angle, digits, primes, dice, even numbers, odd numbers, odds, average, median, interest rate, compound interest, speed, distance, slope',
  },
}

/** Puzzles, and requests for reasoning in steps. */
export const REASONING: WordTable = {
  spaced: {
    en: 'step by step, logic puzzle, riddle, this puzzle, the puzzle, deduce, infer, logically, reason through, think carefully, which of the following, if all, must be true, does it follow, knights and knaves, tells the truth, tell the truth, telling the truth, always lies, is lying, who is the liar, the odd one out, syllogism, logical fallacy in',
    de: 'schritt für schritt, rätsel, logisch, folgere, wie alt ist, wie lange dauert',
    fr: 'étape par étape, énigme, logiquement, quel âge, déduis',
    es: 'paso a paso, acertijo, lógicamente, qué edad, deduce',
    it: 'passo dopo passo, passo per passo, indovinello, logicamente, quanti anni',
    pt: 'passo a passo, enigma, logicamente, quantos anos',
    ru: 'шаг за шагом, пошагово, загадка, логически, сколько лет',
  },
  unspaced: '一步一步, 逐步, 推理, 谜题, 逻辑题, 論理, 推論, なぞなぞ, 단계별, 추론, 수수께끼',
}

/** Words that indicate a word problem, in a question with two numbers. */
export const PROBLEM: WordTable = {
  spaced: {
    en: 'how long will it take, how old is, how old will, how many are left, how many more, weighs, overtakes, catch up, meet, twice as, half as, times as, each, altogether, in total, remain, left over, faster than, older than, younger than, costs, cost, discount, km, miles, mph, per hour, hours, minutes',
    de: 'wie alt ist, wie lange, doppelt so, zusammen, kostet, jede, jeder, übrig',
    fr: 'quel âge, deux fois, ensemble, coûte, chacun, reste',
    es: 'qué edad, doble, juntos, cuesta, cada, quedan',
    ru: 'сколько лет, вместе, больше, меньше, стоит, каждый, осталось',
  },
}

/** Requests for creative works. In English most are recognised by what is to be created ({@link wantedIn}). */
export const CREATIVE: WordTable = {
  spaced: {
    en: 'brainstorm, rephrase, paraphrase, reword, rewrite, make it rhyme',
    de: 'gedicht, geschichte über, märchen, liedtext, aufsatz, rede, slogan, erfinde, dichte',
    fr: 'poème, histoire courte, conte, chanson, discours, invente, rédige, lettre de motivation',
    es: 'poema, cuento, canción, ensayo, discurso, inventa, redacta, eslogan',
    it: 'poesia, racconto, favola, canzone, discorso, inventa, saggio',
    pt: 'poema, conto, canção, redação, discurso, invente',
    ru: 'стих, стихотворение, сказку, рассказ, песню, сочинение, придумай, сочини',
  },
  unspaced: '写一首, 诗, 故事, 小说, 作文, 歌词, 詩, 物語, 俳句, 小説, 歌詞, 시를, 이야기, 소설, 가사',
}

/** Requests for an explanation, a comparison or advice. */
export const KNOWLEDGE: WordTable = {
  spaced: {
    en: 'explain, describe, tell me about, tell me more, teach me, compare, contrast, difference between, differences between, summarize, summarise, overview, analyze, analyse, discuss, pros and cons, advantages, history of, in detail, why, how does, how do, how did, how can, how could, how should, how would, how to, how come, what causes, what happens, what happened to, causes of, cause of, reasons for, consequences of, effects of, effect of, impact of, importance of, benefits of, origin of, origins of, significance of, life cycle, the story behind, what is the story, plot of, history, timeline of, guide, tutorial, tips, tips for, ways to, best way to, best practices, strategy, strategies, care, caring for, training plan, checklist, itinerary, introduction to, basics of, recommend, plan, advice',
    de: 'erklär, erkläre mir, erkläre, beschreibe, vergleiche, unterschied zwischen, überblick, analysiere, vor- und nachteile, geschichte der, geschichte des, ausführlich, warum, wie funktioniert, anleitung',
    fr: 'explique, décris, compare, différence entre, aperçu, analyse, avantages, histoire de, en détail, pourquoi, comment fonctionne',
    es: 'explica, describe, compara, diferencia entre, resumen, analiza, ventajas, historia de, en detalle, por qué, cómo funciona',
    it: 'spiega, descrivi, confronta, differenza tra, panoramica, analizza, vantaggi, storia di, in dettaglio, perché, come funziona',
    pt: 'explique, descreva, compare, diferença entre, visão geral, analise, vantagens, história de, em detalhe, por que, como funciona',
    ru: 'объясни, объясните, опиши, сравни, разница между, обзор, проанализируй, преимущества, история, подробно, почему, как работает',
  },
  unspaced:
    '解释, 比较, 区别, 为什么, 分析, 详细, 介绍, 説明, 比較, 違い, なぜ, 分析, 詳しく, 설명, 비교, 차이, 왜, 분석',
}

/** Words for things that change from day to day. */
export const CURRENT: WordTable = {
  spaced: {
    en: 'today, yesterday, tonight, tomorrow, latest, newest, recent, recently, current, currently, right now, at the moment, this week, this month, this year, last week, last month, news, breaking, headlines, weather, forecast, stock price, share price, exchange rate, price of, price, prices, score, standings, election results, who won, release date, up to date, as of now',
    de: 'heute, gestern, morgen, neueste, neuesten, aktuell, aktuelle, aktuellen, derzeit, momentan, diese woche, dieses jahr, nachrichten, schlagzeilen, wetter, aktienkurs, wechselkurs, preis von, wer hat gewonnen',
    fr: "aujourd'hui, demain, dernière, dernières, récent, récente, actuel, actuelle, actuellement, en ce moment, cette semaine, cette année, actualités, nouvelles, météo, cours de, taux de change, prix de, qui a gagné",
    es: 'hoy, ayer, mañana, último, última, últimas, reciente, actual, actualmente, ahora mismo, esta semana, este año, noticias, tiempo en, clima, precio de, tipo de cambio, quién ganó',
    it: 'oggi, ieri, domani, ultime, ultimo, recente, attuale, attualmente, questa settimana, notizie, meteo, prezzo di, tasso di cambio, chi ha vinto',
    pt: 'hoje, ontem, amanhã, último, últimas, recente, atual, atualmente, esta semana, notícias, previsão do tempo, preço de, taxa de câmbio, quem ganhou',
    ru: 'сегодня, вчера, завтра, последние, последний, сейчас, текущий, текущая, на этой неделе, новости, погода, курс, цена, кто выиграл',
  },
  unspaced:
    '今天, 昨天, 明天, 最新, 最近, 目前, 现在, 新闻, 天气, 股价, 汇率, 价格, 今日, 昨日, 現在, ニュース, 天気, 株価, 為替, 오늘, 어제, 최신, 현재, 뉴스, 날씨, 주가, 환율',
}

/** Questions for a single fact. */
export const FACTUAL: WordTable = {
  spaced: {
    en: 'who is, who was, who are, who were, who invented, who discovered, who wrote, when did, when was, when is, when were, where is, where was, capital of, population of, how many people, how tall is, how high is, how far is, how old is the, what year, which country, which city, president of, prime minister of, ceo of, founder of, founded, born, died, located in, largest, tallest, highest, longest, fastest',
    de: 'wer ist, wer war, wer hat, wann wurde, wann war, wann ist, wo ist, wo liegt, hauptstadt von, einwohner, wie viele menschen, wie hoch ist, präsident von, bundeskanzler, gegründet, geboren',
    fr: 'qui est, qui était, qui a inventé, quand a, où est, où se trouve, capitale de, capitale du, population de, combien de personnes, président de, fondé, né en',
    es: 'quién es, quién fue, quién inventó, cuándo fue, dónde está, capital de, población de, cuántas personas, presidente de, fundado',
    it: 'chi è, chi era, chi ha inventato, quando è, dove si trova, capitale di, popolazione di, quante persone, presidente di, fondata',
    pt: 'quem é, quem foi, quem inventou, quando foi, onde fica, capital de, capital do, população de, quantas pessoas, presidente de',
    ru: 'кто такой, кто такая, кто изобрёл, кто изобрел, когда был, где находится, столица, население, сколько людей, президент',
  },
  unspaced:
    '谁是, 是谁, 什么时候, 在哪里, 首都, 人口, 总统, 创立, 誰ですか, いつ, どこ, 首都は, 人口は, 누구, 언제, 어디, 수도, 인구',
}
