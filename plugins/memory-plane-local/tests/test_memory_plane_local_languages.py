"""Sentences in other languages: who and what is named, what is said, and what is denied, over, asked or supposed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.cases import nominative
from memory_plane_local.extraction import extract
from memory_plane_local.languages import Language, _compile, language_of
from memory_plane_local.sentences import sentences
from memory_plane_local.tables import rows
from memory_plane_local.tokens import tokenize


def read(text: str, known: tuple[str, ...] = ()) -> Extraction:
    written = datetime(2026, 11, 29, 12, tzinfo=UTC)
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=written, origin="user")
    return extract(memory, known)


def said(text: str, polarity: str = "positive") -> set[str]:
    claims = (claim for claim in read(text).claims if claim.polarity == polarity)
    return {f"{claim.subject.text} {claim.relation} {claim.object.text}" for claim in claims}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Marta vive en Valencia y trabaja para Mercadona.", "Marta LOCATED_IN Valencia; Marta WORKS_AT Mercadona"),
        ("Pilar está casada con Andrés.", "Pilar FAMILY_OF Andrés"),
        (
            "Sabine Krüger leitet das Projekt Adler bei der Hoffmann AG in Stuttgart.",
            "Sabine Krüger LEADS Adler; Sabine Krüger WORKS_AT Hoffmann AG; Hoffmann AG LOCATED_IN Stuttgart",
        ),
        ("Anna, die bei Siemens arbeitet, hat Lumora gegründet.", "Anna WORKS_AT Siemens; Anna FOUNDER_OF Lumora"),
        ("Seit 2021 arbeitet Jonas bei Zalando.", "Jonas WORKS_AT Zalando"),
        ("Camille travaille chez Doctolib et habite à Lyon.", "Camille WORKS_AT Doctolib; Camille LOCATED_IN Lyon"),
        ("Le projet Mistral est dirigé par Inès Moreau.", "Inès Moreau LEADS Mistral"),
        ("Giulia lavora per Ferrari e sta imparando Rust.", "Giulia WORKS_AT Ferrari; Giulia LEARNING Rust"),
        ("Beatriz deixou a Nubank e lidera a Aurora.", "Beatriz PREVIOUSLY_WORKED_AT Nubank; Beatriz LEADS Aurora"),
        ("Sanne werkt bij Philips en leert Python.", "Sanne WORKS_AT Philips; Sanne LEARNING Python"),
        ("Kasia pracuje w Allegro i mieszka w Krakowie.", "Kasia WORKS_AT Allegro; Kasia LOCATED_IN Kraków"),
        ("Игорь работает в Газпроме и живёт в Москве.", "Игорь WORKS_AT Газпром; Игорь LOCATED_IN Москва"),
        ("Дмитрий Соколов руководит проектом «Байкал».", "Дмитрий Соколов LEADS Байкал"),
        ("Оксана працює в Приватбанку та живе у Львові.", "Оксана WORKS_AT Приватбанк; Оксана LOCATED_IN Львів"),
        ("Ayşe Trendyol'da çalışıyor, İzmir'de yaşıyor.", "Ayşe WORKS_AT Trendyol; Ayşe LOCATED_IN İzmir"),
        ("Elin är vd för Nordvik och bor i Malmö.", "Elin CEO_OF Nordvik; Elin LOCATED_IN Malmö"),
        ("佐藤さんは楽天で働いていて、京都に住んでいます。", "佐藤 WORKS_AT 楽天; 佐藤 LOCATED_IN 京都"),
        ("山本さんはさくらプロジェクトを担当しています。", "山本 LEADS さくら"),
        ("王芳在腾讯工作，负责星河项目。", "王芳 WORKS_AT 腾讯; 王芳 LEADS 星河"),
        ("刘洋是小米的首席技术官。", "刘洋 CTO_OF 小米"),
        ("김민수는 삼성에서 일한다.", "김민수 WORKS_AT 삼성"),
        ("박지영 씨는 은하 프로젝트를 이끌고 있다.", "박지영 LEADS 은하"),
        ("राहुल इन्फोसिस में काम करता है और पुणे में रहता है।", "राहुल WORKS_AT इन्फोसिस; राहुल LOCATED_IN पुणे"),
        ("يعمل أحمد في شركة أرامكو ويعيش في الرياض.", "أحمد WORKS_AT أرامكو; أحمد LOCATED_IN الرياض"),
        ("Lan làm việc tại Viettel và đang học Rust.", "Lan WORKS_AT Viettel; Lan LEARNING Rust"),
        (
            "Ο Γιώργος Νικολάου εργάζεται στην Alpha Bank και ζει στην Αθήνα.",
            "Γιώργος Νικολάου WORKS_AT Alpha Bank; Γιώργος Νικολάου LOCATED_IN Αθήνα",
        ),
        ("Η Ελένη, που εργάζεται στη Hexaline, γνώρισε τον Γιάννη.", "Ελένη WORKS_AT Hexaline; Ελένη KNOWS Γιάννης"),
        ("Ο Δημήτρης ηγείται του έργου Άτλας.", "Δημήτρης LEADS Άτλας"),
        ("Η Άννα είναι διευθύνουσα σύμβουλος της Hexaline.", "Άννα CEO_OF Hexaline"),
        ("Ο προϊστάμενος της Μαρίας είναι ο Νίκος Βλάχος.", "Νίκος Βλάχος MANAGES Μαρία"),
        ("Mette Holm arbejder hos Maersk og bor i Aarhus.", "Mette Holm WORKS_AT Maersk; Mette Holm LOCATED_IN Aarhus"),
        ("Projektet Falk ledes af Jonas.", "Jonas LEADS Falk"),
        ("Søren Kjær er administrerende direktør for Nordwind.", "Søren Kjær CEO_OF Nordwind"),
        (
            "Kari Nordmann jobber i Equinor og bor i Bergen.",
            "Kari Nordmann WORKS_AT Equinor; Kari Nordmann LOCATED_IN Bergen",
        ),
        ("Astrid har flyttet til Oslo.", "Astrid LOCATED_IN Oslo"),
        ("Budi bekerja di Gojek dan tinggal di Jakarta.", "Budi WORKS_AT Gojek; Budi LOCATED_IN Jakarta"),
        ("Proyek Elang dipimpin oleh Agus.", "Agus LEADS Elang"),
        ("Ioana lucrează la Bitdefender și locuiește în Cluj.", "Ioana WORKS_AT Bitdefender; Ioana LOCATED_IN Cluj"),
        ("Radu este directorul tehnic al Hexaline.", "Radu CTO_OF Hexaline"),
        ("Felix hat Clara eingestellt.", "Felix HIRED Clara"),
        (
            "Max Weber ist seit 2015 Professor an der TU München.",
            "Max Weber WORKS_AT TU München; Max Weber HAS_ROLE Professor",
        ),
        ("Das Projekt Falke wird von Jana geleitet.", "Jana LEADS Falke"),
        (
            "Heike Brandt, Leiterin der Buchhaltung bei Miele, lernt Go.",
            "Heike Brandt HEAD_OF Miele; Heike Brandt LEARNING Go",
        ),
        ("Bernd arbeitet nicht bei SAP, sondern bei Oracle.", "Bernd WORKS_AT Oracle"),
        ("Полина живёт не в Москве, а в Казани.", "Полина LOCATED_IN Казань"),
        ("Marieke is van Breda naar Delft verhuisd.", "Marieke PREVIOUSLY_LIVED_IN Breda; Marieke LOCATED_IN Delft"),
        ("银杏项目由徐静负责。", "徐静 LEADS 银杏"),
        ("한소희의 남편은 오지훈입니다.", "오지훈 FAMILY_OF 한소희"),
        ("El jefe de Marta es Carlos Peña.", "Carlos Peña MANAGES Marta"),
        ("La fundadora de Nexo es Irene Vidal.", "Irene Vidal FOUNDER_OF Nexo"),
        ("Raúl lidera el equipo de Pagos.", "Raúl LEADS Pagos"),
        ("A Ana e o Tiago trabalham na OutSystems.", "Ana WORKS_AT OutSystems; Tiago WORKS_AT OutSystems"),
        (
            "Peter Schmidt, CTO der Nordwind GmbH, lernt Rust.",
            "Peter Schmidt CTO_OF Nordwind GmbH; Peter Schmidt LEARNING Rust",
        ),
        ("Karim développe l'application Boussole.", "Karim BUILDS Boussole"),
        ("Jan van der Meer is CEO van Waterlink.", "Jan van der Meer CEO_OF Waterlink"),
        ("Piotr przeprowadził się z Warszawy.", "Piotr PREVIOUSLY_LIVED_IN Warszawa"),
        ("Elif Demir, Garanti'de mühendis olarak çalışıyor.", "Elif Demir WORKS_AT Garanti"),
        ("田中さんと鈴木さんはソニーに勤めています。", "田中 WORKS_AT ソニー; 鈴木 WORKS_AT ソニー"),
        ("华星科技的创始人是吴刚。", "吴刚 FOUNDER_OF 华星科技"),
        ("सीमा प्रोजेक्ट उड़ान का नेतृत्व करती है।", "सीमा LEADS उड़ान"),
        ("أسس خالد شركة نجم.", "خالد FOUNDER_OF نجم"),
    ],
)
def test_phrases_of_other_languages_are_read(text: str, claims: str) -> None:
    assert said(text) == set(claims.split("; "))


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("Diego no trabaja en Glovo.", "negative"),
        ("Diego ya no trabaja en Glovo.", "past"),
        ("Antes Diego trabajaba en Glovo.", "past"),
        ("¿Trabaja Diego en Glovo?", "question"),
        ("Si todo va bien, Diego trabaja en Glovo.", "hypothetical"),
        ("Diego arbeitet nicht bei Glovo.", "negative"),
        ("Lucie envisage de rejoindre Mistral.", "hypothetical"),
        ("김민수는 구글에서 일하고 싶어 한다.", "hypothetical"),
        ("يريد أحمد أن يعمل في غوغل.", "hypothetical"),
        ("如果马超离开腾讯，他会加入华为。", "hypothetical"),
        ("岡田さんは京都から札幌に引っ越す予定です。", "hypothetical"),
        ("Diego arbeitet nicht mehr bei Glovo.", "past"),
        ("Diego ne travaille plus chez Glovo.", "past"),
        ("Diego não trabalha na Glovo.", "negative"),
        ("Diego werkt niet meer bij Glovo.", "past"),
        ("Ольга больше не работает в Авито.", "past"),
        ("Mehmet artık Getir'de çalışmıyor.", "past"),
        ("高橋さんはトヨタで働いていません。", "negative"),
        ("陈伟不再在百度工作。", "past"),
        ("민수는 더 이상 네이버에서 일하지 않는다.", "past"),
        ("Anders arbejder ikke længere hos Hexaline.", "past"),
        ("Ida bruger ikke Rust.", "negative"),
        ("Ida använder inte Rust.", "negative"),
        ("Håkon bruker ikke Rust.", "negative"),
        ("Kanskje jobber Liv i Telenor.", "hypothetical"),
        ("Dewi tidak lagi bekerja di Hexaline.", "past"),
        ("Apakah Budi bekerja di Hexaline?", "question"),
        ("Jika Budi pindah, dia akan bekerja di Grab.", "hypothetical"),
        ("Andrei nu mai lucrează la Hexaline.", "past"),
        ("Vlad nu folosește Rust.", "negative"),
        ("Ο Νίκος δεν εργάζεται πλέον στη Hexaline.", "past"),
        ("Ο Κώστας δεν χρησιμοποιεί Rust.", "negative"),
        ("Εργάζεται η Ελένη στη Hexaline;", "question"),
        ("Εργάζεται η Ελένη στη Hexaline\u037e", "question"),
        ("Ίσως η Σοφία εργάζεται στη Hexaline.", "hypothetical"),
        ("Dudo que Diego trabaja en Glovo.", "hypothetical"),
        ("Ich glaube nicht, dass Diego bei Glovo arbeitet.", "hypothetical"),
        ("Je doute que Diego travaille chez Glovo.", "hypothetical"),
        ("Dicono che Diego lavora alla Glovo.", "hypothetical"),
        ("Dizem que Diego trabalha na Glovo.", "hypothetical"),
        ("Podobno Diego pracuje w Glovo.", "hypothetical"),
        ("Говорят, что Ольга работает в Авито.", "hypothetical"),
        ("Кажуть, що Олег працює в Приват.", "hypothetical"),
        ("Jag tvivlar på att Diego jobbar på Glovo.", "hypothetical"),
        ("Katanya Budi bekerja di Gojek.", "hypothetical"),
        ("听说陈伟在百度工作。", "hypothetical"),
    ],
)
def test_what_is_denied_over_asked_or_supposed_is_not_so(text: str, polarity: str) -> None:
    assert {claim.polarity for claim in read(text).claims} == {polarity}


@pytest.mark.parametrize(
    "text",
    [
        "Hexaline is headquartered in Bremen.",
        "Hexaline is based in Bremen.",
        "Hexaline has an office in Bremen.",
        "Hexaline tiene su sede en Bremen.",
        "Hexaline hat ihren Sitz in Bremen.",
        "Hexaline a son siège à Bremen.",
        "Hexaline har sitt huvudkontor i Bremen.",
        "Hexaline are sediul în Bremen.",
        "Η Hexaline εδρεύει στη Bremen.",
    ],
)
def test_what_has_its_seat_somewhere_is_a_company(text: str) -> None:
    (claim,) = read(text).claims
    assert (claim.subject.type, claim.relation, claim.object.text) == ("Organization", "LOCATED_IN", "Bremen")


def test_every_phrase_of_the_table_can_be_looked_for() -> None:
    for code in {row[0] for row in rows("foreign.tsv")}:
        assert all(_compile(Language(code), phrase.text) for phrase in Language(code).phrases)


def test_a_denial_reaches_no_further_than_its_clause() -> None:
    text = "A Mariana não trabalha na Galp, ela trabalha na EDP."
    assert said(text) == {"Mariana WORKS_AT EDP"}
    assert said(text, "negative") == {"Mariana WORKS_AT Galp"}


def test_the_next_sentence_goes_on_with_whom_the_first_was_about() -> None:
    assert "Marta LOCATED_IN Valencia" in said("Marta trabaja en Mercadona. Vive en Valencia.")
    assert "Игорь LOCATED_IN Москва" in said("Игорь работает в Газпроме. Он живёт в Москве.")


@pytest.mark.parametrize(
    "text",
    [
        "La hermana de Marta trabaja en Telefónica.",
        "L'équipe de Sophie travaille chez Airbus.",
        "王芳的妹妹在腾讯工作。",
    ],
)
def test_somebody_of_somebody_is_another(text: str) -> None:
    assert said(text) == set()


def test_titles_articles_and_nouns_are_no_part_of_a_name() -> None:
    texts = (
        "Frau Lindner leitet die Firma Solaris.",
        "Gestern hat Herr Baumann angerufen.",
        "鈴木さんは去年メルカリを辞めました。",
    )
    names = {mention.text for text in texts for mention in read(text).mentions}
    assert names == {"Lindner", "Solaris", "Baumann", "鈴木", "メルカリ"}


@pytest.mark.parametrize(
    "text",
    [
        "En Madrid hace mucho calor. La película trata de un hombre que vive en un faro.",
        "Die Lieferung aus Hamburg kommt am Dienstag. In Berlin gibt es viele Museen.",
        "Le rapport est prêt. La réunion de Paris est annulée.",
        "Вчера мы ездили в Москву. В Казани идёт снег.",
        "会議は木曜日に延期されました。東京は暑いです。",
        "昨天下雨了。这部电影讲的是上海的故事。",
        "서울은 덥습니다. 보고서를 보내 주세요.",
        "दिल्ली में गर्मी है।",
    ],
)
def test_nothing_is_made_of_sentences_that_say_nothing_of_the_kind(text: str) -> None:
    assert read(text).claims == ()


def test_mentions_are_what_stands_in_the_text_or_implied() -> None:
    text = "Игорь работает в Газпроме и живёт в Москве. Ayşe İstanbul'da yaşıyor. L'équipe d'Airbus utilise Kafka."
    for mention in read(text).mentions:
        assert mention.start == mention.end or text[mention.start : mention.end] == mention.text


@pytest.mark.parametrize(
    ("language", "name", "case", "found"),
    [
        ("ru", "Яндексе", "loc", "Яндекс"),
        ("ru", "Самаре", "loc", "Самара"),
        ("ru", "Ромашке", "loc", "Ромашка"),
        ("ru", "Германии", "loc", "Германия"),
        ("ru", "Авито", "loc", "Авито"),
        ("ru", "Анне Морозовой", "dat", "Анна Морозова"),
        ("uk", "Києві", "loc", "Київ"),
        ("pl", "Orlenie", "loc", "Orlen"),
        ("pl", "Allegro", "loc", "Allegro"),
        ("el", "Γιώργου Νικολάου", "gen", "Γιώργος Νικολάου"),
        ("el", "Μαρίας Παπαδοπούλου", "gen", "Μαρία Παπαδοπούλου"),
        ("el", "Γιάννη", "acc", "Γιάννης"),
        ("el", "Ελένη", "acc", "Ελένη"),
    ],
)
def test_names_are_put_into_the_nominative(language: str, name: str, case: str, found: str) -> None:
    assert nominative(language, name, case, frozenset()) == found


def test_a_character_that_stands_for_names_within_is_one_like_any_other() -> None:
    assert said("Marta \ue000\uf8ff vive en Valencia y trabaja en \ue001 Zara.") >= {"Marta LOCATED_IN Valencia"}


def test_names_of_two_scripts_without_a_space_between_are_read() -> None:
    assert read("S在X工作Project Z").mentions


def test_a_known_spelling_beats_the_rules() -> None:
    assert nominative("ru", "Заре", "loc", frozenset({"заря"})) == "Заря"


@pytest.mark.parametrize(
    "text",
    [
        "Maria de la Cruz works at Banco de Chile.",
        "Ольга lives in Москва.",
        "Introduced Mei-Ling to our florist Gustavo over email",
        "Met Jan van der Berg, the chef at El Puerto.",
        "任天堂",
        "ship it asap, danke",
    ],
)
def test_english_with_foreign_names_is_read_as_english(text: str) -> None:
    assert all(language_of(sentence) is None for sentence in sentences(text, tokenize(text)))
