"""Office files for tests, made of their XML."""

from __future__ import annotations

import io
import zipfile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def archive(parts: dict[str, str]) -> bytes:
    """Return a zip archive of the parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return buffer.getvalue()


def paragraph(text: str, *, style: str = "", inside: str = "") -> str:
    """Return a paragraph of a document."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r>{inside}<w:t>{text}</w:t></w:r></w:p>"


def document(body: str) -> bytes:
    """Return a document with a German style for headings, as Word names it there."""
    name = '<w:name w:val="heading 2"/>'
    styles = f'<w:styles xmlns:w="{WORD}"><w:style w:styleId="berschrift2">{name}</w:style></w:styles>'
    whole = f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return archive({"word/document.xml": whole, "word/styles.xml": styles})


def presentation(*slides: str) -> bytes:
    """Return a presentation whose slides stand in the archive in the opposite order."""
    ids = "".join(f'<p:sldId r:id="r{n}"/>' for n in range(len(slides)))
    links = "".join(f'<Relationship Id="r{n}" Target="slides/slide{9 - n}.xml"/>' for n in range(len(slides)))
    namespaces = f'xmlns:p="{SLIDES}" xmlns:a="{DRAWING}" xmlns:r="{OFFICE}"'
    parts = {f"ppt/slides/slide{9 - n}.xml": f"<p:sld {namespaces}>{slide}</p:sld>" for n, slide in enumerate(slides)}
    parts["ppt/presentation.xml"] = f"<p:presentation {namespaces}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    parts["ppt/_rels/presentation.xml.rels"] = f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>'
    return archive(parts)


def shape(text: str, placeholder: str = "") -> str:
    """Return a shape of a slide."""
    kind = f'<p:nvPr><p:ph type="{placeholder}"/></p:nvPr>' if placeholder else ""
    return f"<p:sp>{kind}<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


def spreadsheet(rows: str) -> bytes:
    """Return a spreadsheet of one sheet."""
    sheets = '<sheets><sheet name="Prices" sheetId="1" r:id="r1"/></sheets>'
    link = f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    top = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    return archive(
        {
            "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">{top}</Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}">{sheets}</workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}">{link}</Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>',
        }
    )
