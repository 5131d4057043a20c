import json, sys
import traffic
print(json.dumps([[text, traffic.control(text)] for text in map(traffic.clean, json.load(sys.stdin))]))
