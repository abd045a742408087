package adapter

// CLIs name time zones as other systems do, and Windows has no list of these.
import _ "time/tzdata"
