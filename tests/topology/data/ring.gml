# Written for these tests: parallel edges without "multigraph 1", a label twice, entities.
Creator "by hand"
graph [
  directed 0
  Network "Ring"
  node [ id 0 label "Anfield" Latitude 0.0 Longitude 0.0 graphics [ x 1 y 2 ] ]
  node [ id 1 label "Burgh" Latitude 0 Longitude 3 ]
  node [ id 2 label "Burgh" Latitude 1. Longitude 3e0 ]
  node [
    id 3
    label "Caf&eacute; &quot;Sole&quot;"
  ]
  edge [ source 0 target 1 LinkSpeedRaw 2500000000.0 ]
  edge [ source 0 target 1 ]
  edge [ source 1 target 2 ]
  edge [ source 2 target 3 ]
]
