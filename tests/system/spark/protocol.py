"""Tests that apps/spark/connect.proto agrees with Spark's definition: names, numbers and types of
fields, and calls.
"""
import re
import sys
from pathlib import Path

from google.protobuf.descriptor import FieldDescriptor
from pyspark.sql.connect.proto import base_pb2, commands_pb2, relations_pb2

TYPES = {"string": FieldDescriptor.TYPE_STRING, "int64": FieldDescriptor.TYPE_INT64, "bool": FieldDescriptor.TYPE_BOOL, "bytes": FieldDescriptor.TYPE_BYTES}


def spark_messages():
    """Returns the message types of Spark by their full name."""
    messages = {}

    def add(message):
        messages[message.full_name] = message
        for nested in message.nested_types:
            add(nested)

    for file in (base_pb2, commands_pb2, relations_pb2):
        for message in file.DESCRIPTOR.message_types_by_name.values():
            add(message)
    return messages


def main():
    messages, text = spark_messages(), Path(sys.argv[1]).read_text()
    problems, place, fields = [], ["spark.connect"], 0
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        if block := re.match(r"(message|oneof|enum|service) (\w+) \{", line):
            place.append(block[2] if block[1] == "message" else f"({block[2]})")
        elif line == "}":
            place.pop()
        elif field := re.match(r"(?:optional |repeated )?([\w.]+) (\w+) = (\d+);", line):
            name = ".".join(part for part in place if not part.startswith("("))
            own = messages[name].fields_by_name.get(field[2])
            fields += 1
            if own is None or own.number != int(field[3]):
                problems.append(f"{name}.{field[2]} = {field[3]}")
            elif field[1] in TYPES and own.type != TYPES[field[1]] and own.enum_type is None:
                problems.append(f"{name}.{field[2]} is not of type {field[1]}")
            elif line.startswith("repeated") != own.is_repeated:
                problems.append(f"{name}.{field[2]} differs in `repeated`")
        elif value := re.match(r"(\w+) = (\d+);", line):
            enum = messages["spark.connect.InterruptRequest"].enum_types_by_name[place[-1].strip("()")]
            if enum.values_by_name[value[1]].number != int(value[2]):
                problems.append(line)
        elif call := re.match(r"rpc (\w+)\((\w+)\) returns \((?:stream )?(\w+)\);", line):
            own = base_pb2.DESCRIPTOR.services_by_name["SparkConnectService"].methods_by_name[call[1]]
            if (own.input_type.name, own.output_type.name) != (call[2], call[3]):
                problems.append(line)
    print("\n".join(problems) or f"{fields} fields agree with Spark")
    return 1 if problems or fields < 30 else 0


sys.exit(main())
