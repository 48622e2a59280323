"""Reads reports with junitparser, lxml, jsonschema and sarif-tools; prints a line per consumer and exits with 1 if one refuses."""

import glob
import json
import os
import sys

import jsonschema
import junitparser
from lxml import etree

reports, schemas, xsd = sys.argv[1:4]
failed = False


def files(pattern):
    return sorted(glob.glob(os.path.join(reports, pattern)))


def told(name, count, refused):
    global failed
    failed |= bool(refused) or count == 0
    print(f"{name}: {count - len(refused)} of {count} accepted")
    for path, why in refused[:3]:
        print(f"  {os.path.basename(path)}: {why}")


def each(name, paths, check):
    refused = []
    for path in paths:
        try:
            check(path)
        except Exception as error:  # whatever a consumer raises is a refusal
            refused.append((path, str(error)[:300]))
    told(name, len(paths), refused)


def junit(path):
    xml = junitparser.JUnitXml.fromfile(path)
    suites = list(xml)
    tests = sum(len(list(suite)) for suite in suites)
    assert tests == xml.tests, f"{tests} cases, {xml.tests} counted"
    bad = sum(1 for suite in suites for case in suite for result in case.result if not isinstance(result, junitparser.Skipped))
    assert bad == xml.failures + xml.errors, f"{bad} bad results, {xml.failures} + {xml.errors} counted"


each("junitparser, junit", files("*.junit.xml"), junit)
each("junitparser, junit-lines", files("*.junit-lines.xml"), junit)
if xsd:
    schema = etree.XMLSchema(etree.parse(xsd))
    each("junit-10.xsd (lxml)", files("*.junit.xml"), lambda path: schema.assertValid(etree.parse(path)))
else:
    print("junit-10.xsd: not checked, MCPROVE_JUNIT_XSD is not set")
each("SVG is XML (lxml)", files("*.badge-svg.svg"), etree.parse)


def validator(name):
    with open(os.path.join(schemas, name), encoding="utf-8") as file:
        return jsonschema.Draft202012Validator(json.load(file), format_checker=jsonschema.FormatChecker())


report, event = validator("report.json"), validator("events.json")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


each("jsonschema, report", files("*.json.json"), lambda path: report.validate(load(path)))


def events(path):
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line:
                event.validate(json.loads(line))


each("jsonschema, events", files("*.ndjson.ndjson"), events)


def sarif(path):
    from sarif import loader

    loaded = loader.load_sarif_file(path)
    loaded.get_records()


each("sarif-tools", files("*.sarif.sarif"), sarif)
sys.exit(failed)
